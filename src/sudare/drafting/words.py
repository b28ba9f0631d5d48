"""What the words of column names mean: for every meaning the role that it has, and its words in five languages.

A word stands for itself, a long English or German one also for the beginning or end of another; with a star at an end it goes
on there: `smok*` also finds `smoker`. Words joined by `_` must come one
after the other. What ends in `$` must end the name. Case and accents do not matter. Japanese words are found anywhere in a name.
"""

from __future__ import annotations

from dataclasses import dataclass

from sudare.tables.attribute import Role


@dataclass(frozen=True)
class Meaning:
    """What some words of names mean."""

    role: Role
    what: str
    """Ends the sentence: 'x' in its name: ..."""
    words: dict[str, str]
    """By language; `codes` are names that well-known surveys give to their columns."""
    subject: str | None = None
    """What a table with several such columns is about, if that tells what its other columns are."""
    has_names: bool = False
    """Whether its own name, as in `clinic_name`, is not a person's."""
    weak: bool = False
    """Whether it counts only where no other word of the name means anything."""


MEANINGS = (
    # -- who somebody is ---------------------------------------------------------------------------
    Meaning(
        Role.identifier,
        "the name of a person",
        {
            "English": """firstname lastname surname forename fullname first_name last_name given_name family_name middle_name
                full_name maiden_name nickname username user_name screen_name login signature initials last_initial
                first_initial middle_initial first$ last$ given$ surnames""",
            "Japanese": "氏名 名前 姓名 苗字 名字 フリガナ ふりがな カナ 署名",
            "German": "vorname nachname familienname geburtsname name_des zuname rufname benutzername unterschrift",
            "French": "prenom nom nom_de_famille nom_de_naissance patronyme identifiant signature",
            "Spanish": "nombre nombres apellido apellidos firma usuario",
        },
    ),
    Meaning(
        Role.identifier,
        "how a person is reached",
        {
            "English": """email mail e_mail phone telephone tel mobile cell cellphone fax address addr street str$
                house_number house_no apartment pobox url website homepage twitter facebook instagram linkedin skype ip
                ip_address mac_address imei contact$""",
            "Japanese": "住所 電話 番地 携帯 メール ファックス 連絡先 宛先",
            "German": "adresse anschrift strasse hausnummer hausnr telefon* handy* mobilnummer festnetz e_mail_adresse kontakt",
            "French": "adresse rue telephone portable courriel mel numero_de_telephone",
            "Spanish": "direccion domicilio calle telefono movil celular correo",
        },
    ),
    Meaning(
        Role.identifier,
        "where exactly somebody is",
        {
            "English": "lat$ latitude lon$ lng$ long$ longitude gps geolocation geocode coordinates coordinate easting northing",
            "Japanese": "緯度 経度 座標",
            "German": "breitengrad laengengrad langengrad koordinaten",
            "French": "coordonnees",
            "Spanish": "latitud longitud coordenadas",
        },
    ),
    Meaning(
        Role.identifier,
        "a number that is one person's",
        {
            "English": """ssn social_security_number mrn nhs_number nino passport license licence drivers_license
                driver_license driving_licence license_plate plate_number vin iban account_number account_no acct
                card_number creditcard credit_card_number tax_id taxid national_id policy_number policy_no insurance_number
                medical_record_number record_number case_number caseno chart_number hospital_number bib bib_num bib_number
                badge voter_id barcode serial_number fingerprint""",
            "Japanese": "個人番号 マイナンバー 患者番号 カルテ番号 会員番号 社員番号 職員番号 学籍番号 保険証番号 被保険者番号 免許証 旅券 口座 受付番号 整理番号 登録番号",
            "German": """*versichertennummer *versichertennr versnr versnummer sozialversicherungsnummer svnr personalausweis*
                steuernummer steuerid kontonummer kontonr kundennummer kundennr patientennummer patientennr
                personalnummer personalnr matrikelnummer matrikelnr fallnummer fallnr aktenzeichen kennzeichen
                vertragsnummer vertragsnr policennummer schadennummer ausweisnummer mitgliedsnummer""",
            "French": "nir numero_de_securite_sociale numero_secu nss matricule numero_dossier numero_de_dossier ipp numero_client",
            "Spanish": "dni nie nif curp rfc cedula pasaporte nuhsa expediente numero_de_expediente historia_clinica num_historia nhc matricula",
            "codes": "usubjid subjid",
        },
    ),
    Meaning(
        Role.identifier,
        "free text, which can name people",
        {
            "English": "comment comments remark remarks note notes free_text freetext narrative memo description other_info",
            "Japanese": "備考 コメント 自由記述 所見 メモ 特記事項 摘要",
            "German": "bemerkung* kommentar* anmerkung* notiz* freitext hinweis*",
            "French": "commentaire commentaires remarque remarques observation observations texte_libre",
            "Spanish": "comentario comentarios observacion observaciones nota notas texto_libre",
        },
    ),
    # -- how many a record stands for --------------------------------------------------------------
    Meaning(
        Role.weight,
        "how many people a record stands for",
        {
            "English": """sampling_weight instance_weight survey_weight sample_weight person_weight household_weight
                design_weight final_weight expansion_factor replicate_weight post_stratification* weighting fweight
                pweight iweight aweight wts analysis_weight""",
            "Japanese": "集計用乗率 乗率 ウェイト ウエイト 標本重み",
            "German": "gewichtung* hochrechnungsfaktor hrf *gewicht_stichprobe designgewicht",
            "French": "ponderation* poids_de_sondage coefficient_de_ponderation",
            "Spanish": "ponderacion* factor_de_expansion ponderador facexp",
            "codes": "fnlwgt fnlwt pwgtp wgtp perwt hhwt finalwt finalwgt wtfinl wtsupp asecwt wght marsupwt rb050 db090 rb060 wtint2yr wtmec2yr dweight pspwght",
        },
    ),
    # -- to be kept from outsiders -----------------------------------------------------------------
    Meaning(
        Role.sensitive,
        "health",
        {
            "English": """*health* *hlth* frail* cens tx procedure* healthy healthcare diagnos* diagnosis dx disease* illness* sick* ill condition comorbid* symptom*
                icd icd9 icd10 treat treated treatment* therapy* therap* medication* medicine* drug drugs dose dosage rx trt
                prescri* surgery surg surgical operation transplant* cancer tumor tumour* tumor* metasta* malignan* stage
                grade_of nodes lymph* relapse* remission recurr* diabet* asthma* stroke* hypertens* hyperlip* cardiac heart
                coronary infarct* angina arrhythm* renal kidney liver hepat* pulmon* copd pneumon* tuberc* tb hiv aids cd4
                viral virus infect* sepsis covid* vaccin* immuni* allerg* anemia anaemia obes* bmi *bmi body_mass_index blood bp
                systolic diastolic sysbp diabp pulse heart_rate hr_bpm hrtrate temperature temp glucose insulin hba1c
                cholesterol chol ldl hdl trig triglycerid* creatin* albumin bilirubin bili platelet* hemoglobin haemoglobin
                hgb hb wbc rbc ferritin copper protein urine serum plasma esr crp ast alt alk sgot hormon* er_status
                estrogen progest* menopaus* meno pregnan* gestation* abort* miscarr* parity_loss premie prematur* preterm
                trimester prenatal antenatal lowbirthweight low_birth_weight birth_defect fertil* contracep* ivf
                mental psych* depress* anxiety schizo* bipolar suicid* self_harm dementia alzheimer* autis* adhd iq cognit*
                disab* handicap* impair* blind* deaf* wheelchair injur* wound* fracture* trauma burn accident_type coma
                uncons* icu cpr ventilat* intubat* ward_stay los length_of_stay hospitalis* hospitaliz* hospital_days
                admission* admitted discharge* emergency er_visit doctor_visits visits physician pain bleeding fever cough nausea
                vomit* fatigue swelling edema ascites ulcer* lesion* biopsy scan xray x_ray radiolog* mri ct_result ecg
                test_result positive negative_test genetic* gene genotype mutation dna allele carrier asa karno*
                ecog apache gcs mallampati placebo arm randomi* baseline* follow_up followup fu futime survtime survival*
                side_effect* adverse* toxicity chemo* radiotherapy radiation steroid* antibiotic* insulin_dose death_cause cause_of_death mortality resistance improved cured recovery patient_class triage bleed*
                kappa lambda mgus sore throat headache* migraine* dizz* rash itch* diarr* insomnia tremor* seizure* epilep* *depress*
                chronic* *chronic adl iadl *visit* docvis* hosp* doctor* complian* comply* adheren* inherit* prophyl* prenat* antenat*
                onset* censor* thickness tstart tstop *anyl *anil *azolam *azepam *mycin *cillin *statin *sartan *olol *prazole *tinib
                *caine *profen *dipine *gliptin *formin vitamin* opioid* opiate* morphine syndrome* disorder* patholog* histolog*
                celltype lung breast prostate skin_lesion bone spine brain neuro* nerve* cardio* vascular gastro* thyroid ocular
                retin* dental tooth teeth kidney_function egfr urea sodium potassium calcium lipid* enzyme* antibod* titer titre
                dialysis catheter stent* implant* anesth* anaesth* postop* preop* intraop* surger* weight_gain gained outcome_birth apgar
                *emia *emic *itis *ectomy *scopy *plasty *uria *penia *algia *plegia *pnea *stenosis *sclerosis
                *thromb* *carcin* *lymphom* *melanom* *myelom* *sarcom* *gliom* leuk* oncol* embol* ischem*
                ischaem* hypoth* hyperth* hypergly* hypogly* hyperchol* hypercholesterol* *fibril* necro*
                inflamm* plaque* biomarker* assay* gleason psa progression* recurrence* regimen* exposure*
                exposed intervention* donor_* recipient_* graft* hla mismatch* cmv ebv gvhd *gvhd* transfus*
                gravid* npreg livebirth* stillb* breastf* cesarean* caesarean* csection epidural* po2 pco2 pao2
                paco2 bicarb* bun crea creat gfr inr ptt ddimer d_dimer troponin* bnp ldh ggt alp alat asat tsh
                ft4 cortisol* testost* estradiol* prolactin* cea afp fsh amh igg iga igm ige cd8 cd3 neutrophil*
                lymphocyt* monocyt* eosinophil* basophil* leukocyt* erythrocyt* hct hematocrit* haematocrit* mcv
                mch mchc rdw mpv plt uric urate* magnesium phosphate* phosphorus chloride lactate* ketone*
                amylase lipase globulin* fibrinogen* homocystein* zinc iron transferrin folate b12 vitd sbp dbp
                spo2 o2sat sao2 resprate respiratory respiration oxygen* saturation fvc fev* spirom* peakflow
                vo2* qtc ejection* lvef thal oldpeak thalach restecg exang trestbps angiogra* bdi* phq* gad7
                hamd hdrs mmse moca panss cesd* ptsd anger* aggress* hostil* lonel* self_esteem selfesteem
                esteem* efficacy* resilien* coping* worry mania* psychos* mood* affect anxious* fear* stigma*
                vas womac sf36 sf12 eq5d *qol qol quality_of_life haq malaria* measles* dengue* cholera* ebola*
                flu influenza* polio* lupus arthrit* osteo* gout* psoria* eczema* crohn* colitis celiac*
                cirrhos* parkinson* apnea* apnoea* glaucom* cataract* emphysem* bronch* fibros* anorex* bulim*
                inpatient* outpatient* cpt drg ndc pretreat* posttreat* skinfold* waist_hip whr bodyfat body_fat
                fat_mass lean_mass muscle* grip* hearing vision visual* acuity eyesight myop* walking_aid
                quarantin* isolation* incubat* amnes* concuss* skull* comatose unconscious* vegetative prognos*
                hormone_therapy hormonal* horth menostat premenop* postmenop* tsize tgrade pnodes node nodal
                estrec progrec radio_therapy nursing* caregiv* care_home hospice* palliat* inhal* inject*
                insulin* metformin aspirin ibuprofen paracetamol antidepress* sedat* chd_* mi stroke_* tia
                hospital_stay days_in_hospital icd_code snomed* loinc* atc tox* poison* overdos* hemorr*
                haemorr* sclero* *emesis jaundice* anesthes* toler* compli* complication*
                *vis ofp ofnp opp opnp emr numchron illdays actdays ill_days *afc oocyte* embryo* dchexam rinfct
                iinfct abdpain hyperact antisoc* recae srv* er pgr gcs*""",
            "Japanese": "病 診断 疾患 症状 治療 投薬 処方 薬 手術 検査 血圧 血糖 コレステロール 既往 入院 退院 転帰 障害 妊娠 アレルギー 感染 陽性 健康 要介護 ワクチン 体温 体脂肪 死因 がん 癌 喘息 糖尿",
            "German": """diagnose* krankheit* erkrankung* krank* symptom* behandlung* therapie* medikament* medikation arznei*
                dosis operation befund* labor* blut* blutdruck schwanger* behinderung* pflegegrad pflegestufe allergie*
                infektion* impf* schmerz* gesundheit* vorerkrankung* todesursache krankenhaus* aufnahmeart entlassung*
                asthma schlaganfall krebs zucker* hauptdiagnose nebendiagnose* verweildauer""",
            "French": """diagnostic* maladie* pathologie* symptome* traitement* medicament* ordonnance posologie dose chirurgie
                antecedent* allergie* handicap* invalid* grossesse enceinte sante hospitalis* tension glycemie cancer
                vaccin* infection* asthme diabete avc deces_cause cause_deces duree_sejour""",
            "Spanish": """diagnostic* enfermedad* patologia* sintoma* tratamiento* medicamento* medicacion dosis cirugia
                antecedente* alergia* discapacidad* embaraz* salud hospitaliz* tension glucosa cancer vacuna* infeccion*
                asma diabetes ictus causa_muerte ingreso_hospital* alta_medica""",
            "codes": "drem dphy deye dear dvet ddrs dout dis chd cvd ckd trta trtan trtp trt01a trt01p aval aeterm aedecod aesev",
        },
        subject="health",
        has_names=True,
    ),
    Meaning(
        Role.sensitive,
        "money",
        {
            "English": """*income* inc *salary* *wage* earning* compensation remuneration pay payroll payment* *charges paid bonus* hike
                rate_hourly hourlyrate dailyrate monthlyrate hourly_rate daily_rate monthly_rate stock* revenue profit* turnover sales discount*
                asset* wealth saving* invest* dividend* capital* gain loss debt* loan* mortgage* credit* balance limit
                overdraft arrears default* delinq* bankrupt* owed owe liab* expens* expenditure* spend* spent cost costs charge*
                price* fee fees bill* amount amt budget tax* rent rental premium claim* benefit* welfare pension_amount
                pension* allowance subsid* alimony scholarship_amount transaction* purchase_amount deposit* withdrawal* funds
                fico interest int_rate interest_rate apr term loan_term utilization poverty poor low_income donation* fare
                property_value home_value house_value payor* payer* insur* medicaid medicare *inc *wg *earn* tuition ses socioeconomic* cash money *dollars *eur *usd *financ* overdraw* *pay totexp* price_paid donation*
                wealth_index hardship* econ_hard*
                finan* finrela wealth* checking* savings_account account_balance installment* instalment*
                collateral* guarantor* deductib* copay* coinsur* gross tips tip rebate* refund* royalt* networth
                net_worth hhinc* faminc* lnhhinc lninc* pcinc* loans mortgages rents ltv dti creditab*
                creditworth* installment_rate checking_account existing_credits foreign_exchange welfare*
                foodstamp* food_stamp* snap afdc tanf ssi unemployment_benefit* severance affluen* econ_status
                income_level purchase* spending_score
                re74 re75 re78 mtr privins *insurance lnmed lnexp*""",
            "Japanese": "収入 年収 所得 給与 給料 賃金 月給 年俸 賞与 資産 負債 借入 貯蓄 預金 金額 支払 請求 費用 税 保険料 医療費 家賃 残高 与信 年金",
            "German": """einkommen* *einkommen gehalt* *gehalt lohn* *lohn verdienst* vermogen* schulden* kredit* darlehen* betrag*
                *betrag *kosten kosten* preis miete* pramie* beitrag* *beitrag schadenhohe schadenssumme *summe saldo steuer* rente*
                versicherungssumme zahlung* umsatz* bonitat* konto*""",
            "French": """revenu* salaire* remuneration* patrimoine dette* credit* emprunt* montant* cout* prix loyer* prime primes
                cotisation* impot* solde depense* allocation* retraite_montant""",
            "Spanish": """ingreso ingresos *ingresos salario* sueldo* renta* patrimonio deuda* credito* prestamo* importe* monto*
                coste* costo* precio alquiler prima primas impuesto* saldo gasto* pension*""",
            "codes": """pincp povpip pincp_decile hincp ftotinc inctot incwage incbus incfarm incss incwelfr incother incinvst
                hhincome valueh rentgrs value eqincome py010n py020n py050n py080n py090n py100n py110n py120n py130n
                py140n hy010n hy020n hy040n hy050n hy060n hy070n hy080n hy090n hy100n hy110n hy120n hy130n hy140n hy145n
                py010g py050g hinctnta rincom* rincome realinc coninc""",
        },
        subject="money",
    ),
    Meaning(
        Role.sensitive,
        "an opinion or belief",
        {
            "English": """religi* faith church* belief* denomination pray* party partyid political* politic* vote* voting voted
                ballot ideolog* opinion* attitude* satisf* *satisfaction agree* approv* trust* dem rep econom* natlecon attend* gun* owngun grass personality neurotic* extraver* introver*
                agreeable* conscientious* prefer* rating*
                feeling* *happy happiness importance view viewpoint union unions union_member trade_union labor_union labour_union membership_union
                sexual* orientation lgbt* thermometer statusquo status_quo conservative liberal democrat republican
                involvement commitment balance_work work_life_balance worklifebalance stress morale wellbeing well_being
                bush clinton trump obama biden kerry mccain romney abortion* gunlaw cappun support* oppos*
                favor* favour* disagree* confiden* concern* worried toleran* prejud* racis* sexis* discrim*
                pride patriot* protest* petition* democracy democratic government* congress* polit* likert q
                item question question* thermo* ideal* values moral* ethic* evolution climate_change
                welfare_attitude immigration_attitude authoritar* populis* egalit* postmaterial* materialism
                altruis* generos* optimis* pessimis* happ* lifesat* life_satisfaction enjoy* like_* likes
                dislike* perceived* perception* belong* identity_strength leftright left_right lrscale campaign*
                candidate_pref* newspaper* news_*""",
            "Japanese": "宗教 信仰 支持政党 政党 投票 思想 信条 意見 満足 評価 労働組合 性的指向",
            "German": "religion* konfession* glaube* partei* wahl* meinung* zufriedenheit* gewerkschaft* einstellung_zu bewertung*",
            "French": "religion* confession croyance* parti vote opinion* satisfaction* syndicat* orientation_sexuelle avis",
            "Spanish": "religion* creencia* partido voto opinion* satisfaccion* sindicato* orientacion_sexual valoracion*",
        },
        subject="opinions",
    ),
    Meaning(
        Role.sensitive,
        "a habit",
        {
            "English": """*smok* cig* packs *drug_use cigarette* tobacco nicotine alcohol* drink* drunk* beer wine liquor substance* addict*
                cocaine heroin cannabis marijuana opioid* habit* exercise* physical_activity physically_active diet* *sleep* slp* leis* relax* rlx* nap*
                gambl* affair* sex_life partners sexrisk risky helmet* tv strength_training texting text_while_driving
                screen_time leisure hobby activity_level
                calorie* coffee* caffeine* soda fruit* veget* meals* snack* fastfood fast_food gaming videogame*
                video_games sedentar* bedtime waketime vap* ecig* joints weed ecstasy lsd meth needle* condom*
                intercourse virgin* abstin* quit* internet_use social_media socialmedia facebook_use
                instagram_use steps jog* gym yoga sunscreen sunburn* tann* binge* packyears pack_years tabagism*
                drug_* hobbies brush*teeth floss* seatbelt_use speeding
                nbaffairs npartner exer""",
            "Japanese": "喫煙 飲酒 運動習慣 睡眠 習慣 嗜好 薬物",
            "German": "raucher* rauch* alkohol* drogen* sport schlaf* gewohnheit*",
            "French": "tabac* fumeur* alcool* drogue* sommeil sport habitude*",
            "Spanish": "fuma* tabaco tabaquismo alcohol* droga* sueno ejercicio habito*",
        },
        subject="habits",
    ),
    Meaning(
        Role.sensitive,
        "an offence, or what was done about it",
        {
            "English": """crime* criminal* offen* convict* felon* priors served *served arrest* charge_code sentence* prison* jail* incarcerat* probation
                parole recid* juv* misd* charge_degree charge_desc* felony misdemeanor violat* citation* citations stop_reason searched search personsearch
                vehiclesearch frisk* released force_type use_of_force weapon* resist* victim* homicide murder assault*
                warrant* police_report penalt* fine fines fraud* disciplin* suspended checks court verdict guilty bail
                dui dwi traffic_violation* contraband* gang* abus* bully* bullied inmate* custody* firearm*
                handgun* rules_violated infraction* expul* theft* robb* burgl* drugs_related_stop stop_outcome
                arrested detention* detain* deport* warning* ticketed tried convictions reoffend* rearrest*
                parol* probat*""",
            "Japanese": "犯罪 前科 逮捕 有罪 違反 罰金 被害",
            "German": "straftat* delikt* verurteil* vorstraf* haft* festnahme verstoss* bussgeld*",
            "French": "infraction* condamn* delit* casier amende* arrestation",
            "Spanish": "delito* condena* antecedentes_penales arresto multa*",
        },
        subject="offences",
    ),
    Meaning(
        Role.sensitive,
        "a grade or judgement",
        {
            "English": """*gpa score* *score test* *test pretest posttest eval* beauty attractive* looks sat satm satv act_score mark marks exam* test_score result_exam performance*
                appraisal* evaluation* potential ability aptitude achievement honors promotion_potential attrition churn
                dismiss* fired layoff hired rejected accepted_application callback dropout passed failed math* maths algebra reading read write writing science vocab* spelling quiz* homework
                absent* absence* truan* tardy iq_test skill_test admitted_program class_rank
                act gre gmat toefl ielts lsat mcat pisa timss satq midterm* final_exam final_grade course_grade
                hw* cgpa *gpa* skill* quality correct* accuracy* reaction_time rt response_time recall_score
                memory* attention* trials learn* comprehen* fluency* percentile* proficien* gifted* special_ed*
                specialed remedial* retained repeated_grade grade_repeat* repeater attendance missed skipped*
                hwrte atndrte stndfnl priors_gpa g1 g2 g3 numeracy literacy_score appraisal grading* pass_fail
                merit* stars kpi* late_days tardiness turnover
                oral written attain verbal""",
            "Japanese": "成績 点数 得点 偏差値 評定 合否 人事評価",
            "German": "note noten punktzahl prufung* leistung* beurteilung* kundigung*",
            "French": "moyenne_generale resultat* examen* evaluation* licenciement*",
            "Spanish": "calificacion* puntuacion puntaje examen* evaluacion* rendimiento despido*",
        },
        subject="grades",
    ),
    Meaning(
        Role.sensitive,
        "how it ended",
        {
            "English": """outcome* surviv* surv died dead death deceased alive fatal* relapsed event severity
                result results ct_value verdict_final response_status readmi* readmission manner_of_death
                decision* approved denied deny accepted admit selected success* failure* completed completion*
                converted conversion responded responder* clicked purchased bought buy subscribed subscription
                os pfs dfs rfs efs ttp survtime* censored *censor* cens* event_* fustat futime rectime censrec
                censdead lost_to_followup withdrawn withdrew prog* time_to_*""",
            "Japanese": "転帰 死亡 生存 結果 予後",
            "German": "verstorben gestorben uberlebt ergebnis* verlauf ausgang",
            "French": "decede deces survie survecu issue",
            "Spanish": "fallecid* muerte muerto sobreviv* resultado* desenlace",
        },
        subject="health",
    ),
    # -- what outsiders may know -------------------------------------------------------------------
    Meaning(
        Role.quasi,
        "age or birth",
        {
            "English": """age ages age* agep agea aged dob birth* born yob year_of_birth date_of_birth birthday birthdate
                birth_year age_group agegroup* agegrp ageband age_band age_range agecat* fage mage dage age_at
                yrborn yr_born born_year cohort_birth birth_cohort age_years age_yrs ageyr* teen adult elderly
                over65 dobyr agecont agefbrth agefm mother_age father_age
                ybirth birthyr""",
            "Japanese": "年齢 年令 生年月日 誕生 生年 年代 出生",
            "German": "alter altersgruppe altersklasse geburtsdatum geburtsjahr gebdat geboren geburt*",
            "French": "age tranche_d_age date_de_naissance date_naissance annee_naissance naissance ne_le",
            "Spanish": "edad grupo_edad fecha_de_nacimiento fecha_nacimiento nacimiento ano_nacimiento",
        },
    ),
    Meaning(
        Role.quasi,
        "sex",
        {
            "English": "sex gender male female man woman men women boy girl",
            "Japanese": "性別 男女",
            "German": "geschlecht mannlich weiblich",
            "French": "sexe genre homme femme",
            "Spanish": "sexo genero hombre mujer",
            "codes": "rb090 ragender riagendr gndr",
        },
    ),
    Meaning(
        Role.quasi,
        "origin",
        {
            "English": """race* racegrp eth ethn ethnic* nonwh* *white *black hispanic latino hisp afam african* white black asian colour color_of_skin nationality
                citizen* native* immigra* foreign* migrant country_of_birth birth_country birthplace birth_place
                place_of_birth mother_tongue language lang tribe caste ancestry minority
                afram afroam* african_american hispan* chicano* mexican* puerto* cuban* chinese filipino caucas*
                indig* indigen* aborig* indian arab* mulatto us_born usborn born_us born_in visa* refugee*
                asylum* complexion skin_color skin_colour drace ethn* speaks_english english_speak* engfl
                bilingual* firstlanguage first_language home_language generation naturaliz* alien nonwhite
                non_white whitemom mixed_race bame""",
            "Japanese": "国籍 人種 民族 出身 母語 本籍",
            "German": "staatsangehorigkeit nationalitat herkunft* geburtsort geburtsland muttersprache migration* ethni*",
            "French": "nationalite origine* pays_de_naissance lieu_de_naissance lieu_naissance langue* ethnie immigre*",
            "Spanish": "nacionalidad origen pais_de_nacimiento lugar_de_nacimiento lugar_nacimiento idioma etnia extranjer*",
            "codes": "rac1p raceg hispan pb220a bpl bplg brncntr",
        },
    ),
    Meaning(
        Role.quasi,
        "a place",
        {
            "English": """zip zipcode zip_code postcode postal* post_code city town village municipality county district
                neighborhood neighbourhood borough ward precinct region state province prefecture country territory area
                urban urb* rural metro* msa puma tract location place site center centre inst institution* institute hospital clinic facility branch
                campus station hometown residence home_town fips commune parish suburb location_type south north east west
                smsa density population origin destination
                northeast northcen* nrtheast midwest* southern western *smsa* smsa66 smsa76 reg reg16 region_*
                cbd community zone* constituency* congressional riding metropolitan* city_* citysize city_size
                urbanicity rurality locale locality hut camp* base_location birth_state birthstate home_state
                airport port embarked embarkation cabin dist_* distance* ssdist tract_* block_group msa_* csa
                cbsa dma kommune oblast voivodeship emirate island* continent* neighbourhood* residence*
                villnum village_no lea distvct""",
            "Japanese": "郵便番号 都道府県 市区町村 市町村 県 町名 地域 地区 所在地 出生地 居住地 国名 施設 病院 店舗 勤務地",
            "German": "plz postleitzahl ort wohnort stadt gemeinde* kreis landkreis bundesland land region bezirk ortsteil stadtteil filiale klinik standort",
            "French": "code_postal cp ville commune* departement region canton quartier arrondissement pays lieu_de_residence code_insee iris hopital etablissement",
            "Spanish": "codigo_postal cp ciudad municipio provincia comunidad region barrio distrito pais localidad centro hospital",
            "codes": "db040 statefip cntry stateabb nuts nuts2 nuts3",
        },
        has_names=True,
    ),
    Meaning(
        Role.quasi,
        "family and household",
        {
            "English": """marital* maritl marr* *marr married marriage* single divorced widow* spouse husband wife partner children child
                kids kid sons daughters sibling* siblings brothers sisters parent* mother father mom dad mum
                family famsize household* relationship* relation dependents dependants dependent twins twin plurality parity
                birth_order head_of_household living_with cohabit* sibsp parch hsize household_size
                *kids kid* youngkid* oldkid* kidslt* kidsge* nkids nchild* childs *child children* mothfath* hus
                husb* hus_* wife* hage stepmom* stepdad* stepfather stepmother grandpar* grandmother grandfather
                divorc* sibs brthord birthord* firstborn* hhsize hompop adults teens preteen* babies members
                npers* npersons num_people bachelor spouse* engaged fiance* guardian* orphan* only_child nadults
                nuclear_family persons_in_household
                k5 k618 kid5""",
            "Japanese": "婚姻 配偶者 続柄 家族 世帯 子供 子ども 扶養 既婚 未婚 同居",
            "German": "familienstand verheiratet ledig kinder* kind haushalt* ehepartner partner personen_im_haushalt geschwister",
            "French": "situation_familiale situation_matrimoniale etat_civil marie* celibataire enfants enfant menage* conjoint famille lien*",
            "Spanish": "estado_civil casad* solter* hijos hijo hogar* conyuge familia parentesco",
            "codes": "marst msp mar nchild nchlt5 eldch yngch nsibs noc npf relateg relate momloc poploc sploc eqss famunit",
        },
    ),
    Meaning(
        Role.quasi,
        "schooling",
        {
            "English": """edu educ* *educ *education eduyrs school* sch* college* university degree* diploma qualification* major
                field_of_study student* graduate* phd literacy literate grade_level classroom kindergarten enrolled
                highest_qualification discipline faculty course courses
                coll frosh soph junior senior freshman sophomore semester* class_year paed maed pared mothed*
                fathed* motheduc fatheduc meduc feduc momed daded dadeduc momeduc fcollege mcollege hcollege
                collgrad schooling yrschool* yrs_school daycare* preschool* nursery program programme prog track
                kindergart* doctorate masters bachelors hsgrad hs_grad nodegree ged associate_degree edlevel*
                schtyp school_type class_size classsize teacher_exp*
                firstgen first_gen yschool engnat""",
            "Japanese": "学歴 学校 最終学歴 学年 大学 学部 専攻 在学",
            "German": "bildung* schulabschluss schule* abschluss* ausbildung* studium studiengang klasse hochschule*",
            "French": "diplome* niveau_d_etudes niveau_etudes etudes ecole scolar* formation lycee universite",
            "Spanish": "educacion estudios nivel_estudios nivel_educativo escuela titulo titulacion universidad carrera",
            "codes": "educrec schl schltype hs hschool collegeed",
        },
        has_names=True,
    ),
    Meaning(
        Role.quasi,
        "work",
        {
            "English": """occupation* occ* emp empl* job* profession* employ* *employed selfemp employer workclass work* worker working
                industry sector company* firm business* department dept division position title current_title job_title role
                rank seniority tenure experience* exper* years_of_service service_years yrs hours* *hours hrs *hrs overtime shift commute
                career labor labour labforce unemp* retired retirement manager supervisor full_time part_time fulltime
                parttime emp_length military veteran* army training team jobclass
                prestige* prestg* clerical construc* ndurman trcommpu trade services profserv profocc clerocc
                servocc bluecollar blue_collar bluecol whitecol* white_collar whcol blcol selfempl* self_emp*
                inlf lfp partic participation participat* wks_* weeks_worked ttl_exp hrswk* manag* execut*
                admin* faculty lecturer* yrs_since_phd phd_years enlist* serving craft operative laborer foreman
                profess* technician* clergy nonfarm union_job_no employees num_employees firm_size part_time*
                full_time* shift_work jobclass* jobtype job_type apprentice* freelance* volunteer* nwork outwork
                memployment industr* wc hc cs_job
                u74 u75""",
            "Japanese": "職業 職種 勤務先 勤続 役職 会社 部署 業種 雇用 就業 所属",
            "German": "beruf* tatigkeit* arbeit* branche* stellung firma abteilung erwerb* berufsgruppe dienstalter funktion",
            "French": "profession* metier emploi* travail* secteur* employeur csp categorie_socioprofessionnelle entreprise activite poste service_employeur",
            "Spanish": "ocupacion profesion empleo trabajo* sector empresa puesto cargo actividad* departamento_laboral antiguedad",
            "codes": "indp indp_cat occp cow esr wrkstat occ1950 occscore sei ind1950 classwkg wkswork2 hrswork2 pl030 empstat empstatg isco isco08 whrswk hrs1",
        },
        has_names=True,
    ),
    Meaning(
        Role.quasi,
        "home and car",
        {
            "English": """home* homeowner* homeownership own_rent ownership owner tenure_type house housing housing_type dwelling
                rooms bedrooms car cars vehicle* vehicles car_model make model_year moved movedin farm
                homeown* owned rentown own_home ownhome ownershg mobile_home condo* flat_type dwell*
                household_type gated garage pool_house car_* carowner motorcycle* bike bicycle truck
                driver_license driverlicense drivers_licence""",
            "Japanese": "住居 持家 住宅 自動車 車種",
            "German": "wohnung* wohneigentum eigentumer mieter kfz* fahrzeug* auto",
            "French": "logement statut_d_occupation proprietaire locataire vehicule* voiture*",
            "Spanish": "vivienda propietario inquilino vehiculo* coche*",
        },
    ),
    Meaning(
        Role.quasi,
        "looks and size of the body",
        {
            "English": """height stature weight wgt hgt body_weight birth_weight birthweight bwght* *bwght bwt wt ht dht dwt hair eye_color eye_colour
                handed* hand shoe waist body_height
                htcm wtkg ht_cm wt_kg height_* weight_* repwt repht body_length shoesize shoe_size foot* domhand
                handedness right_handed left_handed armspan wingspan arm_span blood_type blood_group glasses
                beard tattoo* eye_col* hair_col* eyes chest_size bust hips shoulder* neck_size inseam
                clothing_size skin_tone birthwt
                hnd""",
            "Japanese": "身長 体重 血液型 出生体重",
            "German": "grosse korpergrosse korpergewicht gewicht geburtsgewicht haarfarbe augenfarbe",
            "French": "taille poids couleur_des_yeux",
            "Spanish": "estatura altura talla peso color_de_ojos",
        },
    ),
    Meaning(
        Role.quasi,
        "when something happened",
        {
            "English": """date* dt datetime day month year *year yr *yr quarter week weekday timestamp
                admission_date discharge_date visit_date death_date date_of_death yearacc season appdate *date
                hour minute week_* weekno yr* semester_year school_year entry_year exit_year hire_date
                start_date end_date enddate startdate arrival* departure* appointed dateof* datetime* yyyymm*
                yearmon month_*""",
            "Japanese": "年月日 日付 日時 入院日 退院日 受診日 年度 年月 死亡日 発症日",
            "German": "datum* *datum jahr monat tag aufnahmedatum eintrittsdatum beginn",
            "French": "date* annee mois jour date_entree date_sortie",
            "Spanish": "fecha* ano anio mes dia fecha_ingreso fecha_alta",
        },
    ),
    Meaning(
        Role.quasi,
        "a result that is published with names",
        {
            "English": """medal* goals assists rebounds steals turnovers allstar* draft* touchdown* yards innings wickets batting* pitch*
                strike_out* strikeout* stolen_bas* home_run* homerun* at_bat* hmrun atbat runs hits walks rbi obp slg ops bat_avg league* coach*
                captain* squat* deadlift* benchpress* lap laps podium* marathon* race_time finish_time chip_time net_time gun_time oscar* emmy* nobel*
                prize* award* episode* rookie* roster* jersey* sport sports games guard forward points minutes playoff* tournament* championship*""",
            "German": "medaille* tore liga* mannschaft*",
            "French": "medaille* equipe ligue",
            "Spanish": "medalla* goles equipo liga",
        },
    ),
    # -- words that count where no other does ------------------------------------------------------
    Meaning(
        Role.sensitive,
        "how it stands with somebody",
        {
            "English": """status state_of problem reason cause condition_code class_label target label
                group$ grp$ response decision time times type risk active cause_of""",
            "Japanese": "状態 原因 理由",
            "German": "zustand grund ursache",
            "French": "statut motif cause etat",
            "Spanish": "estado motivo causa",
        },
        weak=True,
    ),
)

NAME = {
    "English": "name names",
    "Japanese": "名称",
    "German": "bezeichnung",
    "French": "denomination libelle",
    "Spanish": "denominacion",
}
"""What names what the other words of a name say, or else a person."""

ID = {
    "English": "id ids uid pid uuid guid idno idnum identifier identification rowid recordid caseid personid patientid idcode *num code_id key record index serial sequence seqn rownames row_number number num no nr",
    "Japanese": "番号 コード ＩＤ id",
    "German": "nummer nr kennung kennziffer schlussel lfd",
    "French": "numero num no identifiant id_unique",
    "Spanish": "numero num folio identificador",
    "codes": "rb030 pb030 db030 hb030 psid childid studentid memberid custid persid hhid hid famid momid motherid familyid householdid",
}
"""What numbers what the other words of a name say, or else a record."""

PEOPLE = {
    "English": """patient subject person participant respondent customer client member user student employee worker pupil child
        individual resident borrower applicant donor voter donor victim staff prof professor teacher doctor player""",
    "Japanese": "患者 個人 顧客 会員 社員 職員 学生 被験者 受診者 対象者 回答者 利用者",
    "German": "patient* person* kunde* kunden* mitarbeiter* mitglied* versicherte* versicherten* proband* schuler* student*",
    "French": "patient* personne* client* individu* assure* salarie* eleve* etudiant* adherent*",
    "Spanish": "paciente* persona* cliente* usuario* empleado* alumno* asegurado* individuo*",
    "codes": "rb030 pb030 psid pid id uid idno personid patientid subjid idcode childid studentid memberid custid persnum persid",
}
"""Whom an identifier is of, if it is of a person."""

HOUSEHOLDS = {
    "English": "household hh hhid hid famid familyid householdid momid motherid house family fam dwelling couple home",
    "Japanese": "世帯 家族 住戸",
    "German": "haushalt* hh familie*",
    "French": "menage* foyer* famille* logement*",
    "Spanish": "hogar* vivienda* familia*",
    "codes": "db030 hb030 serial",
}
"""Whom an identifier is of, if it is of a household."""

CODED = frozenset(
    """code cd codes zip zipcode postcode postal plz postleitzahl cp fips isco isco08 naics sic nace occupation occ job beruf
    profession ocupacion industry ind indp sector branche race raceg ethnicity country region state county municipality
    district commune puma city town village ward precinct neighborhood prefecture province department location site center
    centre hospital clinic branch ort stadt ville ciudad""".split()
)
"""Words of names whose whole numbers are codes of something, and not amounts."""

PREPOSITIONS = frozenset(
    "of at in to from since before after per by for with von bei der des de du la le les d del al por en".split()
)
"""What comes after one says more of what came before it."""
