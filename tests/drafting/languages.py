"""Made-up tables with the headers that people give them in four languages, and the roles of their columns."""

from __future__ import annotations

import numpy as np
import polars as pl

from sudare.drafting.patterns import is_dni, is_my_number
from sudare.tables.attribute import Role

ROWS = 400


def _drawn(rng: np.random.Generator, values: list) -> list:
    return [values[at] for at in rng.integers(len(values), size=ROWS)]


def _my_numbers(rng: np.random.Generator) -> list[str]:
    bodies = [f"{body:011d}" for body in rng.integers(10**10, 10**11, size=ROWS)]
    return [
        next(f"{body}{check}" for check in range(10) if is_my_number(f"{body}{check}")) for body in bodies
    ]


def _dnis(rng: np.random.Generator) -> list[str]:
    bodies = [f"{body:08d}" for body in rng.integers(10**7, 10**8, size=ROWS)]
    letters = "TRWAGMYFPDXBNJZSQVHLCKE"
    return [next(f"{body}{letter}" for letter in letters if is_dni(f"{body}{letter}")) for body in bodies]


def _days(rng: np.random.Generator, form: str, first: int, last: int) -> list[str]:
    days = pl.Series(rng.integers((first - 1970) * 365, (last - 1970) * 365, size=ROWS)).cast(pl.Date)
    return days.dt.strftime(form).to_list()


Table = tuple[pl.DataFrame, dict[str, Role]]


def _table(columns: dict[str, tuple[list, str]]) -> Table:
    frame = pl.DataFrame({name: values for name, (values, _) in columns.items()})
    return frame, {name: Role(role) for name, (_, role) in columns.items()}


def japanese_hospital() -> Table:
    """Inpatients of a hospital, some of whom came twice."""
    rng = np.random.default_rng(1)
    towns = [f"{prefix:03d}-{town:04d}" for prefix in (150, 151, 530) for town in range(20)]
    posts = _drawn(rng, towns)
    return _table(
        {
            "患者番号": ([1000 + i // 2 for i in range(ROWS)], "person"),
            "患者氏名": (_drawn(rng, ["山田 太郎", "佐藤 花子", "鈴木 一郎"]), "identifier"),
            "マイナンバー": (_my_numbers(rng), "identifier"),
            "生年月日": (_days(rng, "%Y年%m月%d日", 1930, 2005), "quasi"),
            "性別": (_drawn(rng, ["男", "女"]), "quasi"),
            "年代": (_drawn(rng, [f"{decade}代" for decade in range(20, 90, 10)]), "quasi"),
            "郵便番号": (posts, "quasi"),
            "都道府県": (["東京都" if post < "200" else "大阪府" for post in posts], "quasi"),
            "電話番号": (
                [f"090-{a:04d}-{b:04d}" for a, b in rng.integers(10**4, size=(ROWS, 2))],
                "identifier",
            ),
            "職業": (_drawn(rng, ["会社員", "自営業", "無職"]), "quasi"),
            "入院日": (_days(rng, "%Y-%m-%d", 2020, 2024), "quasi"),
            "主病名": (_drawn(rng, ["肺炎", "糖尿病", "胃癌"]), "sensitive"),
            "収縮期血圧": (rng.integers(90, 190, size=ROWS).tolist(), "sensitive"),
            "喫煙歴": (_drawn(rng, ["あり", "なし"]), "sensitive"),
            "転帰": (_drawn(rng, ["治癒", "軽快", "死亡"]), "sensitive"),
            "備考": (
                [f"{i}回目の受診。" + "経過は良好であり、特に問題なし。" * 3 for i in range(ROWS)],
                "identifier",
            ),
        }
    )


def german_insurance() -> Table:
    """Contracts of a health insurer."""
    rng = np.random.default_rng(2)
    return _table(
        {
            "Versichertennummer": ([f"{chr(65 + i % 26)}{i:09d}" for i in range(ROWS)], "identifier"),
            "Nachname": (_drawn(rng, ["Müller", "Schmidt", "Weber"]), "identifier"),
            "Vorname": (_drawn(rng, ["Anna", "Jonas"]), "identifier"),
            "Straße": (_drawn(rng, ["Am Markt 3", "Gartenweg 12"]), "identifier"),
            "Geburtsdatum": (_days(rng, "%d.%m.%Y", 1940, 2005), "quasi"),
            "Geschlecht": (_drawn(rng, ["m", "w", "d"]), "quasi"),
            "PLZ": (rng.integers(1067, 99998, size=ROWS).tolist(), "quasi"),
            "Wohnort": (_drawn(rng, ["Köln", "Ulm", "Bonn"]), "quasi"),
            "Familienstand": (_drawn(rng, ["ledig", "verheiratet"]), "quasi"),
            "Berufsgruppe": (_drawn(rng, ["Angestellte", "Beamte"]), "quasi"),
            "Staatsangehörigkeit": (_drawn(rng, ["DE", "TR", "IT"]), "quasi"),
            "Bruttoeinkommen": (rng.integers(20_000, 90_000, size=ROWS).tolist(), "sensitive"),
            "Monatsbeitrag": (rng.integers(200, 900, size=ROWS).tolist(), "sensitive"),
            "Hauptdiagnose": (_drawn(rng, ["E11.9", "I10", "J45.0"]), "sensitive"),
            "Pflegegrad": (_drawn(rng, [0, 1, 2, 3]), "sensitive"),
            "Raucher": (_drawn(rng, ["ja", "nein"]), "sensitive"),
            "Schadenssumme": (rng.integers(0, 9_000, size=ROWS).tolist(), "sensitive"),
        }
    )


def french_census() -> Table:
    """A census: people in households, with weights."""
    rng = np.random.default_rng(3)
    return _table(
        {
            "numéro_ménage": ([i // 3 for i in range(ROWS)], "household"),
            "prénom": (_drawn(rng, ["Louise", "Hugo", "Inès"]), "identifier"),
            "adresse": (_drawn(rng, ["12 rue des Lilas", "3 place Carnot"]), "identifier"),
            "code postal": (_drawn(rng, [f"{code:05d}" for code in range(69001, 69060)]), "quasi"),
            "commune": (_drawn(rng, ["Lyon", "Bron"]), "quasi"),
            "sexe": (_drawn(rng, ["H", "F"]), "quasi"),
            "date de naissance": (_days(rng, "%d/%m/%Y", 1930, 2015), "quasi"),
            "lieu de naissance": (_drawn(rng, ["Lyon", "Paris"]), "quasi"),
            "nationalité": (_drawn(rng, ["FR", "PT"]), "quasi"),
            "situation matrimoniale": (_drawn(rng, ["célibataire", "marié"]), "quasi"),
            "nombre d'enfants": (_drawn(rng, [0, 1, 2, 3]), "quasi"),
            "niveau d'études": (_drawn(rng, ["bac", "licence"]), "quasi"),
            "profession": (_drawn(rng, ["ouvrier", "cadre"]), "quasi"),
            "revenu": (rng.integers(10_000, 60_000, size=ROWS).tolist(), "sensitive"),
            "religion": (_drawn(rng, ["a", "b", "c"]), "sensitive"),
            "handicap": (_drawn(rng, ["oui", "non"]), "sensitive"),
            "pondération": (rng.uniform(50, 400, size=ROWS).tolist(), "weight"),
        }
    )


def spanish_clinic() -> Table:
    """Visits to a clinic."""
    rng = np.random.default_rng(4)
    return _table(
        {
            "DNI": (_dnis(rng), "identifier"),
            "nombre": (_drawn(rng, ["Lucía", "Mateo"]), "identifier"),
            "apellidos": (_drawn(rng, ["García López", "Ruiz Soto"]), "identifier"),
            "correo": ([f"p{i}@example.org" for i in range(ROWS)], "identifier"),
            "teléfono": ([f"+34 6{n:08d}" for n in rng.integers(10**8, size=ROWS)], "identifier"),
            "fecha de nacimiento": (_days(rng, "%Y-%m-%d", 1940, 2010), "quasi"),
            "edad": (_drawn(rng, ["0-14", "15-29", "30-44", "45-59", "60 y más"]), "quasi"),
            "sexo": (_drawn(rng, ["hombre", "mujer"]), "quasi"),
            "código postal": (_drawn(rng, [f"{code:05d}" for code in range(28001, 28050)]), "quasi"),
            "municipio": (_drawn(rng, ["Madrid", "Getafe"]), "quasi"),
            "estado civil": (_drawn(rng, ["soltero", "casado"]), "quasi"),
            "peso": ([f"{n} kg" for n in rng.integers(40, 120, size=ROWS)], "quasi"),
            "diagnóstico": (_drawn(rng, ["gripe", "asma"]), "sensitive"),
            "tratamiento": (_drawn(rng, ["ibuprofeno", "salbutamol"]), "sensitive"),
            "alergias": (_drawn(rng, ["polen", "ninguna"]), "sensitive"),
            "fuma": (_drawn(rng, ["sí", "no"]), "sensitive"),
            "importe": ([f"{n} €" for n in rng.integers(20, 300, size=ROWS)], "sensitive"),
            "observaciones": (
                [f"visita {i}: viene con dolor desde hace días y pide cita" for i in range(ROWS)],
                "identifier",
            ),
        }
    )


TABLES = (japanese_hospital, german_insurance, french_census, spanish_clinic)
