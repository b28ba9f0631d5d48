"""The tables of the collection: what they are, on what terms they may be used, and how to read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from sudare.datasets.files import FILES, known, path
from sudare.tables.typed import typed


@typed
@dataclass(frozen=True)
class Dataset:
    """A table that `load` knows: what it is, whose it is, and on what terms it may be used."""

    name: str
    title: str
    files: tuple[str, ...]
    """The files of the table, by their names under the data folder; those that `load` reads come first."""
    origin: str
    licence: str
    citation: str
    rows: int
    columns: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.title}\n"
            f"  size      {self.rows:,} rows, {self.columns} columns\n"
            f"  files     {', '.join(self.files)}\n"
            f"  origin    {self.origin}\n"
            f"  licence   {self.licence}\n"
            f"  citation  {self.citation}"
        )


_CC_BY = "CC BY 4.0, as UCI lists it; none in the file itself"
_PDDL = "PDDL, by the packager"
_ADULT_CITATION = (
    "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20"
)
_NIST_LICENCE = "work of the US government, not subject to copyright in the United States"
_NIST_CITATION = (
    "Task, C., Bhagat, K. and Howarth, G. (2023). SDNist v2: Deidentified Data Report Tool. National Institute of"
    " Standards and Technology. doi:10.18434/mds2-2943"
)


def _dataset(
    name: str, title: str, files: tuple[str, ...], licence: str, citation: str, rows: int, columns: int
) -> Dataset:
    return Dataset(name, title, files, FILES[files[0]].origin, licence, citation, rows, columns)


_DATASETS = {
    dataset.name: dataset
    for dataset in (
        _dataset(
            "adult",
            "Adult (census income), training and test part",
            ("adult/adult.data", "adult/adult.test", "adult/adult.names"),
            _CC_BY,
            _ADULT_CITATION,
            48_842,
            15,
        ),
        _dataset(
            "adult-train",
            "Adult (census income), training part",
            ("adult/adult.data", "adult/adult.names"),
            _CC_BY,
            _ADULT_CITATION,
            32_561,
            15,
        ),
        _dataset(
            "adult-arx",
            "Adult as ARX's example data, with nine hierarchies",
            tuple(file for file in FILES if file.startswith("arx_hierarchies/")),
            "Apache-2.0",
            "Prasser, F., Eicher, J., Spengler, H., Bild, R. and Kuhn, K. A. (2020). Flexible data anonymization"
            " using ARX: current status and challenges ahead. Software: Practice and Experience 50(7)",
            30_162,
            9,
        ),
        _dataset(
            "coil2000",
            "The Insurance Company Benchmark (CoIL 2000), training part",
            ("coil2000/ticdata2000.txt", "coil2000/TicDataDescr.txt"),
            "non-commercial research and education only; (c) Sentient Machine Research 2000",
            "van der Putten, P. and van Someren, M., eds. (2000). CoIL Challenge 2000: The Insurance Company"
            " Case. Sentient Machine Research, Amsterdam; LIACS Technical Report 2000-09",
            5_822,
            86,
        ),
        _dataset(
            "japanese-vowels",
            "Japanese Vowels, test part",
            ("japanese_vowels/ae.test",),
            _CC_BY,
            "Kudo, M., Toyama, J. and Shimbo, M. (1999). Multidimensional Curve Classification Using"
            " Passing-Through Regions. Pattern Recognition Letters 20(11-13), 1103-1111",
            5_687,
            12,
        ),
        _dataset(
            "ipums",
            "IPUMS Census Database, Los Angeles and Long Beach",
            ("ipums/ipums.la.97.gz", "ipums/ipums.la.names"),
            "free to use and distribute; cite Ruggles and Sobek (1997)",
            "Ruggles, S. and Sobek, M. (1997). Integrated Public Use Microdata Series, Version 2.0. Historical"
            " Census Projects, University of Minnesota",
            70_187,
            61,
        ),
        _dataset(
            "metro-traffic",
            "Metro Interstate Traffic Volume",
            ("metro_traffic/Metro_Interstate_Traffic_Volume.csv",),
            _CC_BY,
            "Hogue, J. (2019). Metro Interstate Traffic Volume. UCI Machine Learning Repository."
            " doi:10.24432/C5X60B",
            48_204,
            9,
        ),
        _dataset(
            "electricity",
            "Electricity prices of New South Wales (ELEC2)",
            ("electricity/electricity.csv",),
            _PDDL,
            "Harries, M. (1999). Splice-2 comparative evaluation: Electricity pricing. University of New South"
            " Wales",
            45_312,
            9,
        ),
        _dataset(
            "phoneme",
            "Phoneme, nasal and oral vowels",
            ("phoneme/phoneme.csv",),
            _PDDL,
            "Van Cappel, D., Thomson-Sintra (1993). Phoneme. ELENA project, from ESPRIT 5516 ROARS",
            5_404,
            6,
        ),
        _dataset(
            "jm1",
            "JM1, software defects",
            ("jm1/jm1.csv",),
            _PDDL,
            "NASA Metrics Data Program (2004). JM1. Donated by T. Menzies to the PROMISE Repository",
            10_885,
            22,
        ),
        _dataset(
            "bitcoin-heist",
            "BitcoinHeist, addresses that received ransom and others; its file must be in the data folder",
            ("bitcoin/BitcoinHeistData.csv",),
            _CC_BY,
            "Akcora, C. G., Li, Y., Gel, Y. R. and Kantarcioglu, M. (2019). BitcoinHeist: Topological Data Analysis for"
            " Ransomware Detection on the Bitcoin Blockchain. arXiv:1906.07852",
            2_916_697,
            10,
        ),
        _dataset(
            "nist-national2019",
            "NIST's Diverse Communities Data Excerpts 2019, 20 places of the United States",
            ("nist_excerpts/national2019.csv", "nist_excerpts/national2019.json"),
            _NIST_LICENCE,
            _NIST_CITATION,
            27_253,
            24,
        ),
        _dataset(
            "nist-ma2019",
            "NIST's Diverse Communities Data Excerpts 2019, five places of Massachusetts",
            ("nist_excerpts/ma2019.csv", "nist_excerpts/ma2019.json"),
            _NIST_LICENCE,
            _NIST_CITATION,
            7_634,
            24,
        ),
    )
}

_ADULT_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex"
    " capital-gain capital-loss hours-per-week native-country income"
)
_ADULT_INTEGERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")

_COIL_COLUMNS = (
    "MOSTYPE MAANTHUI MGEMOMV MGEMLEEF MOSHOOFD MGODRK MGODPR MGODOV MGODGE MRELGE MRELSA MRELOV MFALLEEN"
    " MFGEKIND MFWEKIND MOPLHOOG MOPLMIDD MOPLLAAG MBERHOOG MBERZELF MBERBOER MBERMIDD MBERARBG MBERARBO"
    " MSKA MSKB1 MSKB2 MSKC MSKD MHHUUR MHKOOP MAUT1 MAUT2 MAUT0 MZFONDS MZPART MINKM30 MINK3045 MINK4575"
    " MINK7512 MINK123M MINKGEM MKOOPKLA PWAPART PWABEDR PWALAND PPERSAUT PBESAUT PMOTSCO PVRAAUT PAANHANG"
    " PTRACTOR PWERKT PBROM PLEVEN PPERSONG PGEZONG PWAOREG PBRAND PZEILPL PPLEZIER PFIETS PINBOED PBYSTAND"
    " AWAPART AWABEDR AWALAND APERSAUT ABESAUT AMOTSCO AVRAAUT AAANHANG ATRACTOR AWERKT ABROM ALEVEN"
    " APERSONG AGEZONG AWAOREG ABRAND AZEILPL APLEZIER AFIETS AINBOED ABYSTAND CARAVAN"
)

_IPUMS_COLUMNS = (
    "year gq gqtypeg farm ownershg value rent ftotinc nfams ncouples nmothers nfathers momloc stepmom momrule"
    " poploc steppop poprule sploc sprule famsize nchild nchlt5 famunit eldch yngch nsibs relateg age sex"
    " raceg marst chborn bplg school educrec schltype empstatg labforce occ1950 occscore sei ind1950 classwkg"
    " wkswork2 hrswork2 yrlastwk workedyr inctot incwage incbus incfarm incss incwelfr incother poverty"
    " migrat5g migplac5 movedin vetstat tranwork"
)


def names() -> list[str]:
    """Return the names of the tables that `load` knows.

    >>> names()[:3]
    ['adult', 'adult-train', 'adult-arx']
    """
    return list(_DATASETS)


@typed
def describe(name: str) -> Dataset:
    """Return what a table is, where it comes from, and its licence and citation; print it to read it.

    >>> describe("coil2000").licence
    'non-commercial research and education only; (c) Sentient Machine Research 2000'
    """
    return known(name, _DATASETS, "data set")


@typed
def load(name: str) -> pl.DataFrame:
    """Return a table of the collection as a frame with named columns; a missing value is null.

    >>> load("adult-arx").shape
    (30162, 9)
    """
    return _READERS[describe(name).name]()


def _adult(*files: str) -> pl.DataFrame:
    text = pl.concat(
        pl.read_csv(
            path(file),
            has_header=False,
            new_columns=_ADULT_COLUMNS.split(),
            comment_prefix="|",
            infer_schema=False,
        )
        for file in files
    ).drop_nulls("age")  # The files end in an empty line.
    return text.with_columns(
        pl.all().str.strip_chars().replace("?", None),
    ).with_columns(
        pl.col(_ADULT_INTEGERS).cast(pl.Int64),
        pl.col("income").str.strip_suffix("."),
    )


def _coil2000() -> pl.DataFrame:
    file = path("coil2000/ticdata2000.txt")
    return pl.read_csv(file, has_header=False, new_columns=_COIL_COLUMNS.split(), separator="\t")


def _japanese_vowels() -> pl.DataFrame:
    """Read the numbers as text, exactly as written: their hierarchies cut digits off."""
    columns = [f"c{i}" for i in range(1, 13)]
    file = path("japanese_vowels/ae.test")
    lines = pl.read_csv(file, has_header=False, new_columns=columns, separator=" ", infer_schema=False)
    return lines.drop_nulls("c1")  # An empty line ends a block.


def _ipums() -> pl.DataFrame:
    """Read all as text, because codes have leading zeros."""
    file = path("ipums/ipums.la.97.gz")
    return pl.read_csv(file, has_header=False, new_columns=_IPUMS_COLUMNS.split(), infer_schema=False)


def _metro_traffic() -> pl.DataFrame:
    table = _typed("metro_traffic/Metro_Interstate_Traffic_Volume.csv")
    # UCI's own copy writes 72 temperatures with a float's tail (272.11400000000003); all have three decimals.
    return table.with_columns(
        pl.col("temp").round(3),
        pl.col("date_time").str.to_datetime("%Y-%m-%d %H:%M:%S"),
    )


def _nist(excerpt: str) -> pl.DataFrame:
    """Read all as text: N, for not applicable, is a value among numbers."""
    return pl.read_csv(path(f"nist_excerpts/{excerpt}.csv"), infer_schema=False)


def _typed(file: str, separator: str = ",") -> pl.DataFrame:
    """Read a file with a header, whose types polars infers from all of it."""
    return pl.read_csv(path(file), separator=separator, infer_schema_length=None)


_READERS: dict[str, Callable[[], pl.DataFrame]] = {
    "adult": lambda: _adult("adult/adult.data", "adult/adult.test"),
    "adult-train": lambda: _adult("adult/adult.data"),
    "adult-arx": lambda: _typed("arx_hierarchies/adult.csv", separator=";"),
    "coil2000": _coil2000,
    "japanese-vowels": _japanese_vowels,
    "ipums": _ipums,
    "metro-traffic": _metro_traffic,
    "electricity": lambda: _typed("electricity/electricity.csv"),
    "phoneme": lambda: _typed("phoneme/phoneme.csv"),
    "jm1": lambda: _typed("jm1/jm1.csv"),
    "bitcoin-heist": lambda: _typed("bitcoin/BitcoinHeistData.csv"),
    "nist-national2019": lambda: _nist("national2019"),
    "nist-ma2019": lambda: _nist("ma2019"),
}
