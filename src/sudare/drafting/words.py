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
                personalnummer personalnr matrikelnummer matrikelnr fallnummer fallnr aktenzeichen kennzeichen kfz_kennz* kennz nummernschild vsnr strnr hausnr
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
            "codes": """wtssall wtssps wtssnr wtss anweight pweight indivwt hhweight svywt svyweight surveywt swt popwt popwgt popweight perwgt
                hhwgt wtint wtmec finalweight finalwt cweight lweight nweight sampweight sampwt sampwgt instwt ernlwgt earnwt hwtsupp hwtfinl
                hwgt fexp fac_exp factor_exp facpob xwght psweight poststrat* weightvar casewt v005 wgtp1 pwsswgt genwt dnweight
                fnlwgt fnlwt pwgtp wgtp perwt hhwt finalwt finalwgt wtfinl wtsupp asecwt wght marsupwt rb050 db090 rb060 wtint2yr wtmec2yr dweight pspwght""",
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
                sbp dbp rr spo2 hct hgb mcv mch plt wcc bun psa ldh alp ggt ggtp inr ptt aptt fev1 fvc pef tsh hcv hbv hsv hpv std_test
                afib arthr* osteo* rheum* psori* eczema anaemi* gout hernia* colitis polio malaria dengue measles influenza flu zika ebola
                leukemi* leukaemi* anemi* *cemia *lemia *remia *itis *osis *ectomy *plasty *oscopy *algia carcinoma* melanoma* lymphoma* sarcoma* adenoma* glaucoma* *uria neuropath* retinopath* nephropath* *ostomy hyper* hypo* hipert* ulcer nerves bronch* hay_fever hayfever
                infarction fibrillation *fibrillation *vascular stenos* *stenosis plaque artery aort* valve ventric* ejection murmur
                lesions nodule* mass_size grade_tumor hemorr* haemorr* thromb* embol* edema oedema jaundice cirrh* gallstone* bowel
                stomach abdom* abdomen chest colon rectal rectum ovary ovarian uter* cervi* cervix hyst* breastfe* lactat* menarche
                birth_control birthcontrol contracept* abortion* stillb* neonat* pediatr* paediatr* obstet* gyn* delivery_mode cesarean caesarean
                c_section csection clinic* clinical dialysis anthropom* whr waist_hip bodyfat body_fat oxygen saturation o2 co2 po2 pco2
                ph_level bicarb* lactate electrolyte* zinc magnesium folate b12 selenium retinol beta_carotene carotene fiber fibre
                calories kcal protein_intake nutri* supplement* aspirin warfarin heparin statin beta_blocker betablock* ace_inhib* diuretic*
                ibuprofen paracetamol acetamin* mmse moca phq* gad7 hamd bdi madrs cesd ghq sf12 sf36 eq5d qol quol nyha nihss barthel* barth* rankin mrs sofa
                cage_score audit_c epds scl90 hads who5 zung panss ymrs disabled needs_help care_need carer caregiv* nursing nurse
                mh mh_* mental* treated untreated consult* referral* refer_to specialist gp_visit outpatient inpatient inpat* outpat* hospice palliat*
                exposed exposure contact_case isolation quarantine* incubation swab pcr antigen serotype strain outbreak epidem* incidence
                ill_* vaccine vax* booster jab mask_use dead_* alive_* survive* survivor* survd deaths dying lived expired
                relapse* progress* response_to response_rate remiss* sd_status tox* grade_3 dose_* cycle cycles arm_* assigned_* allocation
                random_group control_group case_control limit_activity limitation* limits chronic_* longterm_ill longstanding* hearing
                vision sight eyesight glasses teeth_* smell taste sleep_apnea apnea snor* stress* burnout ptsd trauma_* ocd panic phobi*
                mood anx* anger selfesteem self_esteem esteem lonel* fatig* tired* weak* balance_test gait mobility grip walking_speed adl_* frailty""",
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
                debts savings investments salaries wages fees deposits incom* incm hhinc faminc famincome nwifeinc hourly_wage
                approve* approved loanamt loan* lend* lender* borrow* apr fixed_rate installment* instalment* repay* payback amortiz* collateral cosign* creditor creditors
                liquid liq networth net_worth netw worth obrat hrat ratio_debt dti dsr ltv gift* inheritance dowry pocket_money
                plan_cost price_paid out_of_pocket copay* coins coinsur* deduct* deductible reimburs* payout* claims claimed policy_type
                coverage covered uninsured insured poverty_* foodstamp* food_stamps snap ssi unemployment_benefit transfers remittance*
                afford* cost_of exp_total consumption consum* expend* *expend purchase* bought buy buyer shop_spend order_value basket
                recency monetary clv ltv arpu revenue_per billing bill_* late_fee dunning collection collections write_off chargeback refund* voucher coupon* loyalty points_redeemed reward*
                free_lunch lunch lunch_status reduced_price freelunch frlunch meal_plan scholarship* bursary stipend grant_amount financial_aid""",
            "Japanese": "収入 年収 所得 給与 給料 賃金 月給 年俸 賞与 資産 負債 借入 貯蓄 預金 金額 支払 請求 費用 税 保険料 医療費 家賃 残高 与信 年金",
            "German": """einkommen* *einkommen gehalt* *gehalt lohn* *lohn verdienst* vermogen* schulden* kredit* darlehen* betrag*
                *betrag *kosten kosten* preis miete* pramie* beitrag* *beitrag schadenhohe schadenssumme *summe saldo steuer* rente*
                versicherungssumme zahlung* umsatz* bonitat* konto*
                schaden* schaeden* anzschaden selbstbeteiligung mahn* mahnstufe zahlweise zahlungsweise sf_klasse sfklasse rabatt* guthaben
                limit uberziehung tilgung zins* ertrag* forderung* raten rate rabattstufe pramien* deckung* kasko""",
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
        "what somebody uses or buys",
        {
            "English": """subscription* subscrib* tariff overage *usage *minutes *mins calls *calls sms messages intl
                international_plan voicemail vmail voice_mail roaming topup top_up plan_type data_plan *_plan gb_used logins
                clicks pageviews page_views sessions_count orders n_orders order_count items_bought viewed watched streamed downloads""",
            "German": "tarif nutzung* verbrauch* bestellung*",
            "French": "abonnement* consommation* commande*",
            "Spanish": "consumo* pedido* suscripcion*",
            "Japanese": "利用 購入 注文 契約",
        },
        subject="customers",
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
                agree* disagree* strongly likert attitud* concern* worry worried worries fear feel feels felt think thinks thought believe* belief
                support oppose* favor* favour* should want wants wish wishes willing* intend* intention* expect* expectation* perceiv* perception* aware* awareness
                comfortable comfort* confid* confidence loyal* motivat* engagement ready readiness commit* jobsat jsat job_satis* *sat cohesion morale_* leadership
                recommend* nps likely likelihood* interest* interested enjoy* like likes dislike* prefer* favorite favourite ideal* idl* desired
                catholic protestant protest jewish muslim islam* hindu buddhis* atheist* christian* spirit* spiritual* relig* mosque service_attend
                republican* democrat* gop tory labour_party green_party partisan* voter_turnout turnout candidate biden trump obama clinton bush kerry romney mccain gore
                abortion_view gay* homosex* lesbian* bisexual* queer racism racist* sexism sexist* prejudice* stereotype* discriminat* tolerance tolerant
                immigration_view climate* environment* welfare_view gun_control death_penalty nuclear terror* war iraq eu_member brexit nato
                happy* unhappy lifesat life_satis* quality_of_life qol_* meaning_of_life optimis* pessimis* hope* trust* mistrust news newspaper* media
                openness consc* agreeab* bigfive big5 ocean_* bfi* neo_* narciss* machiav* psychopath* impuls* risk_aver* riskaver* patience altruis* self_* locus* coping
                values_* norm norms moral* ethic* fair fairness justice equality equal_* polit* polview polviews partyid7 libcon lrscale leftright left_right
                know_* knows knowledge heard_of opinion_* q_opin feedback complaint* reason_for reasons motive importance_* important""",
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
                smoker* smok* nosmok* vape* vaping ecig* drinker* dalc walc alc alco* abv spirits_drink vodka whisk* rum coffee tea caffeine soda cola juice milk
                snack* breakfast lunch_hab dinner supper meal* eat* eating food foods fruit* veg vegetab* vegan* meat fish sugar sweets chocolate fastfood fast_food junk*
                sport sports gym jog* cycling swim* yoga workout* fitness walk walks walking walked sedentary sitting physact physical* act_level active activit* inactive
                social_media facebook_use instagram_use internet_use phone_use mobile_use gaming videogame* games_played computer_use tv_hours tvhours watch* read_books reading_hab
                goout go_out going_out party_going freetime free_time spare_time pastime* hobb* club_member* concert* cinema movie_watch* travel_freq vacation* holiday*
                romantic dating datin* relationship_sat sexual_* sex_act* sexfreq condom* intercourse virgin* porn* abuse* abused abuser bully* bullied violence* domestic_viol*
                steal* stole* cheat* lie lies speeding seat_belt seatbelt* drunk_driv* dui dwi driving_hab wash* brush* hygiene frequency freq how_often often_* times_per""",
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
                offence* offense* arr_* charge_type charges_filed plea pleas trial* acquit* prior_* priors_count detention* detain* custody_days
                rearrest* reoffend* recidiv* stolen theft* robbery burglar* drug_charge gang* suspect* perpetrator* accus* accused lawsuit* sued""",
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
                *test_score verbal quant* numeracy literacy_score percentile* pctile* rank_in_class failures fail* fails pass pass_* passes retention retained repeat* repeated_grade
                dropout* graduat_rate credits_earned credits gcse* alevel a_level gre toefl ielts lsat mcat psat act_* act$ satq satv satw iq* wisc wais raven* cognitive memory recall wordrec* digit_span
                reaction_time rt_ms errors_made correct incorrect accuracy trials_correct item* items task_score puzzle* vocabulary* comprehens* arith* arithmetic geometry physics chemistry biology history_score
                g1 g2 g3 mark* grade_point final_grade finalgrade midterm* mid_term final$ finals homework* quiz* assignment* project_score lab_score term_gpa behavior* behaviour* conduct
                absences absenc* days_late dayslate late_days tardi* attendance attend* skipped skip_class studytime study_time study_hours hours_studied higher_ed_wish
                terminat* termd term_reason terminated resign* quit quits left_company turnover_flag leave_reason noshow no_show no_shows promot* promotion* demot* performer perf_* perfscore
                productivity productiv* late lateness discipl* warning* dismissed hiring hire_decision call_back callbacks received_callback interview_* shortlist* reject* admit admitted offer_made""",
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
                outcome* success* failure* event_* endpoint final_status dead_or_alive vital_status vitalstatus vitstat surv_time survtime resolved recover* cured healed healing
                response respons* decision result_* finding* verdict_* died_* death_* mort fatality""",
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
                xage agem agey agemo ageyr ageyrs agemos ageyears age_* months_old years_old yrs_old old older elderly adult_age minor_age bday bdate yob mob""",
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
            "English": """sex gender male female man woman men women boy girl
                sexf sexm sexe gend genre_sex fem females males mr_mrs salutation prefix_title""",
            "Japanese": "性別 男女",
            "German": """geschlecht mannlich weiblich
                anrede""",
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
                blk blck hisp hispan ethnicgroup racecat raceeth race_eth raceethn othrace natam aian nhpi pacific indigenous aborig* native_* nativ* immig* foreignborn foreign_born usborn us_born bornus born_in bornin birthctry aa_ af_am afroam caucasian nwhite non_white mixed_race multirac* english_speak* home_lang langhome""",
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
                cnty ctry cntry country_* city_* citysize settlement settlements nhood community communities community_area barangay ward_no dist distr zone zones locality domicile abode where_live live_in lives_in nationwide msa_* smsa_* cbsa census_tract blockgroup block_group zcta neighborhood_* rurality urbanicity urbanrural urban_rural metro_* northeast northwest southeast southwest midwest northern southern eastern western overseas abroad inland coastal island""",
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
                hus husb husband_* wif wives spouse_* partnered cohab cohab* unmarried never_married nevermarried nevermarr evermarr evermarried engaged separated sep remarried kids_* nkids numkids numchild nchild numch nchildren childs kidlt6 kidge6 kids_lt6 baby babies infant infants toddler* teen teens preteen grandpar* grandchild* guardian guard orphan* adopted fostered foster eldest youngest oldest firstborn first_born birth_ord* sibs nsib bro bros sister* brother* hhsize hh_size famsiz famsize fam fam_size num_people npersons hompop numadults adults_in pstatus cohabiting live_with livewith livingwith lives_with ceb parous gravid* agefbrth fathers_* mothers_* widows heirs twin_*""",
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
                edyrs yrsed yrseduc yrschool yrsch schyrs edlev edlevel edlvl educlev educlevel eduq medu fedu meduc feduc schooling dropout_grade colldeg hsgrad hs_grad hsdip hsdeg bachelor* ba_deg master* masters mba doctorate undergrad* postgrad* tertiary secondary_ed primary_ed vocational vocat* trade_school apprentic* preschool nursery daycare kinder* frosh freshman freshm* soph sophom* junior senior_yr class_year alma_mater lyceum gymnasium coursework tutor* famsup schoolsup extra_classes extracurr* grad grads""",
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
                inlf lfp lforce labf in_lf outlf laborforce labor_force wrk wkly weeks_worked wkswork wksworked weekswork hrswork hrs_wk hrswk whrs workhrs yrsexp exper* expr exp expersq yrs_exp potexp pot_exp ten tenur* tenursq yrsemp yrs_emp yjob mjob fjob selfe self_emp self_employed clerocc servocc profocc profserv tradesman manuf* constr* constru* trcommpu farm_work farmer* nurse_job clerical clerk* services_ind craft* laborer* labourer* blue_collar bluecol bluecollar white_collar whitecol unskilled semi_skilled skilled execut* manag* admin_job technician* engineer* lawyer* scientist* soldier* police_officer* retir* pensioner unempl unem_spell jobless lookwork looking_work work_* remote_* remotework telework* wfh office_loc hire_date dateofhire hiredate doh recruit* position_* job_title jobtitle jobcode job_code posn squadron platoon regiment company_size division_* reports_to subordinates team_size""",
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
                homeown home_own own_home ownhome renter renters tenant* landlord mortgagee_flag apartment_type condo dwel* bldg building_type roof floor_type floors wall_type electric electricity water_source watersource toilet_type sanitation piped latrine cooking_fuel stove refrig* fridge freezer radio television tvset has_tv bicycle bike motorbike motorcycle scooter tractor car_* cars_* ncars autos vehic* fuel internet internet_access broadband computer_home pc_home landline telephone_home pets pet dog cat livestock cattle land_owned acres garage pool""",
            "Japanese": "住居 持家 住宅 自動車 車種",
            "German": """wohnung* wohneigentum eigentumer mieter kfz* fahrzeug* auto
                fzg* fahrzeugtyp fahrzeugart hubraum erstzulassung""",
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
                lengt lgth length_cm bodylength footlength foot shoe_size hat_size head_circ headcirc headsize wrist ankle forearm biceps chest_circ hip hips thigh neck_circ wingspan span fold clap handedness lefthand* righthand* right_handed left_handed writing_hand hairc* eyec* eyes_color freckles beard tattoo* complexion build physique pounds lbs kg kilos inches cms mass bodymass ht_* wt_* hgt_* wgt_* wtkg htcm heightcm weightkg wt_kg ht_cm heightin weightlb""",
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
                dt_* dates dob_* dod doe dox doa dod_* dos dt_birth entrydate exitdate entry_date exit_date start_date end_date startdate enddate started ended regdate reg_date signup* sign_up joined joined_on join_date since created created_at updated updated_at modified_at time_stamp enrol_date interview_date survey_date month_* mnth mth qtr quart* yrdth modth dadth dth_yr yrmo yyyymm yyyy calendar wave_date dayofweek day_of_week dow weekend monday tuesday wednesday thursday friday saturday sunday""",
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
            "English": """games games_played game points pts rebounds assists steals_pg blocks goals goal team teams position_played league at_bat hits runs
                home_run home_runs hr rbi walks strike_out* strikeout* stolen_base* innings era wins losses win loss_count medal medals podium finish* pace
                split_time race_time marathon run_time swim_time lap laps squat* bench* deadlift* bodyweight* weight_class allstar all_star drafted draft jersey
                touchdowns yards passes tackles shots saves fouls sets_won seed ranking world_rank tournament championship olympic* season episode* award awards oscar*
                avgmin minpg ppg rpg apg obp slg ops batting fielding putouts putout errors_field winner runner_up division_place elected election_year inaugurat*""",
            "Japanese": "順位 記録 試合 得点王 選手",
            "German": "platz platzierung mannschaft verein liga tore spiele",
            "French": "equipe classement buts matchs",
            "Spanish": "equipo clasificacion goles partidos",
        },
        subject="results that are published with names",
    ),
    # -- what is said of something else ------------------------------------------------------------
    Meaning(
        Role.other,
        "how the data was collected",
        {
            "English": """wave waves visitno visit_no visit_number visit_num enum obsnum obs_no observation_number psu strata stratum ultimate_cluster replicate batch
                assay_batch lab_id instrument_id scanner device_id machine_id interviewer interviewer_id interview_mode mode_of_interview form_version
                questionnaire_version version software study studyid study_id study_name trial_name protocol protocol_id itt ittfl saffl randfl pp_set fas flag_quality imputed imputation
                imputed_flag data_source record_source record_type rec_type file_name filename row_hash checksum survey_year census_year sms_sent reminder_sent
                reminder units_used unit_system measurement_unit sampling_method diagnostic_method test_method test_kit assay_type train_test split_set holdout fold_id""",
            "Japanese": "調査回 調査年 票種 版",
            "German": "erhebungswelle welle erhebungsjahr messzeitpunkt mandant",
            "French": "vague version_questionnaire",
            "Spanish": "ola_encuesta version_cuestionario metododx metodo_diagnostico",
        },
    ),
    Meaning(
        Role.other,
        "what is said of an offer or a thing",
        {
            "English": """requirement requirements required req req_* job_ad* ad_id posting vacancy job_req* reqexp reqcomm reqeduc reqcomp reqorg equal_opp* wanted
                product product_* products item_name sku category sub_category subcategory brand segment ship_mode shipping* quantity qty unit_price
                store_id shop_id warehouse supplier weather humidity wind rainfall airq air_quality""",
            "Japanese": "商品 品名 数量 分類",
            "German": "artikel produkt* menge",
            "French": "produit* article quantite",
            "Spanish": "producto* articulo cantidad",
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
    "English": "case id ids uid pid uuid guid idno idnum identifier identification rowid recordid caseid personid patientid idcode *num code_id key record index serial sequence seqn rownames row_number number num no nr",
    "Japanese": "番号 コード ＩＤ id",
    "German": "nummer nr kennung kennziffer schlussel lfd",
    "French": "numero num no identifiant id_unique",
    "Spanish": "numero num folio identificador",
    "codes": "rb030 pb030 db030 hb030 psid childid studentid memberid custid persid hhid hid famid momid motherid familyid householdid",
}
"""What numbers what the other words of a name say, or else a record."""

PEOPLE = {
    "English": """patient pat pt subject subj person participant respondent resp customer client member user student employee worker pupil
        child woman individual indiv resident borrower applicant donor voter victim staff prof professor player runner athlete guest""",
    "Japanese": "患者 個人 顧客 会員 社員 職員 学生 被験者 受診者 対象者 回答者 利用者",
    "German": "patient* person* kunde* kunden* mitarbeiter* mitglied* versicherte* versicherten* proband* schuler* student*",
    "French": "patient* personne* client* individu* assure* salarie* eleve* etudiant* adherent*",
    "Spanish": "paciente* persona* cliente* usuario* empleado* alumno* asegurado* individuo*",
    "codes": """rb030 pb030 psid pid id uid idno personid patientid subjid idcode childid studentid memberid custid
        persnum persid ptid respid respno perid pidp xwaveid mergeid hhidpn persno pnr subid subjectid iid""",
}
"""Whom an identifier is of, if it is of a person."""

STAFF = {
    "English": """manager supervisor boss teacher doctor physician surgeon nurse therapist interviewer enumerator officer agent broker judge
        prosecutor lawyer attorney caseworker rater coder operator seller driver coach instructor reviewer""",
    "Japanese": "担当者 医師 主治医 教師 上司",
    "German": "vorgesetzte* arzt arztin lehrer* betreuer* sachbearbeiter* interviewer",
    "French": "medecin responsable enseignant enqueteur",
    "Spanish": "medico profesor encuestador jefe vendedor",
}
"""Who has to do with the people of a table, and is named or numbered there, too."""

HOUSEHOLDS = {
    "English": """household hh hhid hid famid familyid householdid momid motherid house family fam dwelling couple home pair dyad
        ticket cabin booking twinpair pedigree sibship""",
    "Japanese": "世帯 家族 住戸",
    "German": "haushalt* hh familie*",
    "French": "menage* foyer* famille* logement*",
    "Spanish": "hogar* vivienda* familia*",
    "codes": "db030 hb030 serial hhnum hhno hhnr idhh famno famnum famnr pedid pairid dyadid coupleid folioviv directorio",
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

AFFIXES = """hr yr mo lt ge gt le sq ln hh sp nr wk log tot total num avg mean max min cur pre post prev last first new old raw
    sum cnt pct per lag dum cat grp rec std adj hus husb wif wife fath moth fth mth dad mom kid resp any ever never has had
    own other both non wks mths days yrs hrs squ idx code cd flag int out sub all lvl type"""
"""What stands beside a known word in an abbreviation, and does not change what it is about."""

BEFORE = frozenset("hwmfsctlrx")
AFTER = frozenset("hwmf")
"""Letters that stand there: of the husband, the wife, the mother, the father, the spouse; logarithms; a respondent."""

ORDINARY = frozenset(
    "length calc prestige ship massage perf current walk walks talk talks incr disc dist".split()
)
"""Words that only look as if they were made of others."""
