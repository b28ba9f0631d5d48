"""Public tables for tests, papers and first steps: where they come from, and how to read them.

A file is taken from the folder that the environment variable SUDARE_DATA names, if it is there; else it is
downloaded from its origin and kept in a cache folder. Either way it is used only if its checksum is one that
this catalogue knows.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

import polars as pl
import pooch

from sudare.errors import InputError, ParameterError

_Entry = TypeVar("_Entry")

_UCI = "https://archive.ics.uci.edu"
_ARX = "https://raw.githubusercontent.com/arx-deidentifier/arx/aacd487fb77b3af7970d5d6fa1b2f6cca1182b64/data"
_PGM = (
    "https://raw.githubusercontent.com/ryan112358/private-pgm/4d2b3c566b148da3ef800ce76e6189c548f2da22/data"
)
_OPENML = (
    "https://raw.githubusercontent.com/datasets/openml-datasets/33fdb1a80bb44d92180fba7af46ef0622d54e52b/data"
)

_ADULT_PAGE = f"{_UCI}/dataset/2/adult"
_COIL_PAGE = f"{_UCI}/dataset/125/insurance+company+benchmark+coil+2000"
_VOWELS_PAGE = f"{_UCI}/dataset/128/japanese+vowels"
_IPUMS_PAGE = f"{_UCI}/dataset/127/ipums+census+database"
_METRO_PAGE = f"{_UCI}/dataset/492/metro+interstate+traffic+volume"
_ARX_PAGE = "https://github.com/arx-deidentifier/arx"
_ELECTRICITY_PAGE = "https://www.openml.org/d/151"
_PHONEME_PAGE = "https://www.openml.org/d/1489"
_JM1_PAGE = "https://www.openml.org/d/1053"


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


@dataclass(frozen=True)
class _File:
    """A file of the collection, the checksums it may have, and where it can be downloaded.

    The second checksum, where there is one, is that of the origin's own copy: the same table in other bytes
    (line ends, the last digit of a float). Without `url`, no address is known that serves the very bytes.
    """

    name: str
    sha256: tuple[str, ...]
    origin: str
    url: str | None = None
    member: str | None = None
    """The file's name in the zip archive that `url` serves."""


def _adult_file(name: str, sha256: str) -> _File:
    return _File(f"adult/{name}", (sha256,), _ADULT_PAGE, f"{_UCI}/static/public/2/adult.zip", name)


def _arx_file(name: str, sha256: str) -> _File:
    return _File(f"arx_hierarchies/{name}", (sha256,), _ARX_PAGE, f"{_ARX}/{name}")


def _openml_file(name: str, page: str, sha256: str) -> _File:
    return _File(f"{name}/{name}.csv", (sha256,), page, f"{_OPENML}/{name}/{name}.csv")


_HIERARCHIES = {
    "age": "463f35372e8b1ad31fc624eb73c5da9297878a044ae5d61038eaf7b431ac55ca",
    "education": "f22e5ee519c28b05538d4e5ddea0fbee5f0017fefb3abab3fa02272325bf9ce5",
    "marital-status": "3e7ba2c4a5cd4fec059b4e3a2c57fce6e7c34a20daee1e624990ddd7beba85e5",
    "native-country": "696d3b53973311c096b33f98bb56e526016910b1a1cd5a1e904cb799d1077023",
    "occupation": "16dc420d5d7f8ab4d1e6144eb1d19ab8314ef42523fe8c4ee202372db1c98126",
    "race": "df11abf41fa0669455adc9c9f9fa88663afa0cee8327684ecca861cd32dc4209",
    "salary-class": "404895b3fcfb615813efab7ae0d2c50c8b127cec651f9b37d44a648646f86345",
    "sex": "537d23f7b6969b916b5a5490eb1b32c273fefdc62ca050a7a813e23bbf3b78b2",
    "workclass": "106f420349bf0071dbb25371795a78799edf24a64c3424619d563c3990ee8d02",
}

_FILES = {
    file.name: file
    for file in (
        _adult_file("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        _adult_file("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        _adult_file("adult.names", "c248284c0b5de30c9e1958d6cdd168a34a654758b620e68f46aefa83fc0a576a"),
        _File(
            "adult/adult-domain.json",
            ("734f07d75cbc2acbe711984e6db520b3e95c9c727cf448c528ce0b38347bb147",),
            "https://github.com/ryan112358/private-pgm",
            f"{_PGM}/adult-domain.json",
        ),
        _arx_file("adult.csv", "c700df9304fbf3c4d4db5938bffc510561bd4a2dfad285a3feef9a20619391c5"),
        *(_arx_file(f"adult_hierarchy_{name}.csv", sha256) for name, sha256 in _HIERARCHIES.items()),
        _File(
            "coil2000/ticdata2000.txt",
            (
                "4e967da7c4d1759b9f2ddbd39aace45af6a6685a7a7ecd6febb161a60dd8fe0a",
                "5d5bdca1be0b9a6c012b93a8c8104761201bd70f7e08764fa67f2cfb26243723",
            ),
            _COIL_PAGE,
            f"{_UCI}/ml/machine-learning-databases/tic-mld/ticdata2000.txt",
        ),
        _File(
            "coil2000/TicDataDescr.txt",
            ("8692cd6dc5e2ff481c5599c2f90c18749c5ac2212cc1aba664719e513e6bc430",),
            _COIL_PAGE,
        ),
        _File(
            "japanese_vowels/ae.test",
            ("72af4d36589cecc6933e0c640dcc91c7a3acfc6aca6b2f9017b7ee0b24e79166",),
            _VOWELS_PAGE,
        ),
        _File(
            "ipums/ipums.la.97.gz",
            ("74acb660da418c1932ae5409717dd97f9f8f27a133bf1393da5546637f13dba4",),
            _IPUMS_PAGE,
        ),
        _File(
            "ipums/ipums.la.names",
            ("49fd46753d9a0949cb34036d71ce0cfd57c25a55b708ae3c05ed9fd8d4559cb0",),
            _IPUMS_PAGE,
        ),
        _File(
            "metro_traffic/Metro_Interstate_Traffic_Volume.csv",
            (
                "3ec6b8844c4e5e20904855c81079a30e4342da20b7010e78606a244e539f29f6",
                "749c90d720360a4215bb15345526073c079ba4cc95e3fa558796d083f85fce9e",
            ),
            _METRO_PAGE,
            f"{_UCI}/static/public/492/metro+interstate+traffic+volume.zip",
            "Metro_Interstate_Traffic_Volume.csv.gz",
        ),
        _openml_file(
            "electricity",
            _ELECTRICITY_PAGE,
            "c10a416790ef8ab96089e5adfd2febb7c9cec72bd80dfecb2342f2283b86b88a",
        ),
        _openml_file(
            "phoneme", _PHONEME_PAGE, "d78411a6cb2ce7769c222befa4a454e6f055a935fa56abcf93af60b226d9e219"
        ),
        _openml_file("jm1", _JM1_PAGE, "c25f790d6b59b0c719f241ef0b65f24c576d17eed0c158778f061b609ae18a93"),
    )
}

_CC_BY = "CC BY 4.0, as UCI lists it; none in the file itself"
_PDDL = "PDDL, by the packager"
_ADULT_CITATION = (
    "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. doi:10.24432/C5XW20"
)

_DATASETS = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "adult",
            "Adult (census income), training and test part",
            ("adult/adult.data", "adult/adult.test", "adult/adult.names"),
            _ADULT_PAGE,
            _CC_BY,
            _ADULT_CITATION,
            48_842,
            15,
        ),
        Dataset(
            "adult-train",
            "Adult (census income), training part",
            ("adult/adult.data", "adult/adult.names"),
            _ADULT_PAGE,
            _CC_BY,
            _ADULT_CITATION,
            32_561,
            15,
        ),
        Dataset(
            "adult-arx",
            "Adult as ARX's example data, with nine hierarchies",
            (
                "arx_hierarchies/adult.csv",
                *(f"arx_hierarchies/adult_hierarchy_{name}.csv" for name in _HIERARCHIES),
            ),
            _ARX_PAGE,
            "Apache-2.0",
            "Prasser, F., Eicher, J., Spengler, H., Bild, R. and Kuhn, K. A. (2020). Flexible data anonymization"
            " using ARX: current status and challenges ahead. Software: Practice and Experience 50(7)",
            30_162,
            9,
        ),
        Dataset(
            "coil2000",
            "The Insurance Company Benchmark (CoIL 2000), training part",
            ("coil2000/ticdata2000.txt", "coil2000/TicDataDescr.txt"),
            _COIL_PAGE,
            "non-commercial research and education only; (c) Sentient Machine Research 2000",
            "van der Putten, P. and van Someren, M., eds. (2000). CoIL Challenge 2000: The Insurance Company"
            " Case. Sentient Machine Research, Amsterdam; LIACS Technical Report 2000-09",
            5_822,
            86,
        ),
        Dataset(
            "japanese-vowels",
            "Japanese Vowels, test part",
            ("japanese_vowels/ae.test",),
            _VOWELS_PAGE,
            _CC_BY,
            "Kudo, M., Toyama, J. and Shimbo, M. (1999). Multidimensional Curve Classification Using"
            " Passing-Through Regions. Pattern Recognition Letters 20(11-13), 1103-1111",
            5_687,
            12,
        ),
        Dataset(
            "ipums",
            "IPUMS Census Database, Los Angeles and Long Beach",
            ("ipums/ipums.la.97.gz", "ipums/ipums.la.names"),
            _IPUMS_PAGE,
            "free to use and distribute; cite Ruggles and Sobek (1997)",
            "Ruggles, S. and Sobek, M. (1997). Integrated Public Use Microdata Series, Version 2.0. Historical"
            " Census Projects, University of Minnesota",
            70_187,
            61,
        ),
        Dataset(
            "metro-traffic",
            "Metro Interstate Traffic Volume",
            ("metro_traffic/Metro_Interstate_Traffic_Volume.csv",),
            _METRO_PAGE,
            _CC_BY,
            "Hogue, J. (2019). Metro Interstate Traffic Volume. UCI Machine Learning Repository."
            " doi:10.24432/C5X60B",
            48_204,
            9,
        ),
        Dataset(
            "electricity",
            "Electricity prices of New South Wales (ELEC2)",
            ("electricity/electricity.csv",),
            _ELECTRICITY_PAGE,
            _PDDL,
            "Harries, M. (1999). Splice-2 comparative evaluation: Electricity pricing. University of New South"
            " Wales",
            45_312,
            9,
        ),
        Dataset(
            "phoneme",
            "Phoneme, nasal and oral vowels",
            ("phoneme/phoneme.csv",),
            _PHONEME_PAGE,
            _PDDL,
            "Van Cappel, D., Thomson-Sintra (1993). Phoneme. ELENA project, from ESPRIT 5516 ROARS",
            5_404,
            6,
        ),
        Dataset(
            "jm1",
            "JM1, software defects",
            ("jm1/jm1.csv",),
            _JM1_PAGE,
            _PDDL,
            "NASA Metrics Data Program (2004). JM1. Donated by T. Menzies to the PROMISE Repository",
            10_885,
            22,
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
    """The tables that `load` knows.

    >>> names()[:3]
    ['adult', 'adult-train', 'adult-arx']
    """
    return list(_DATASETS)


def describe(name: str) -> Dataset:
    """What a table is, where it comes from, and its licence and citation; print it to read it.

    >>> describe("coil2000").licence
    'non-commercial research and education only; (c) Sentient Machine Research 2000'
    """
    return _known(name, _DATASETS, "data set")


def path(name: str) -> Path:
    """A file of the collection, downloaded if it is not on this machine, with its checksum checked.

    >>> path("arx_hierarchies/adult_hierarchy_age.csv").name
    'adult_hierarchy_age.csv'
    """
    file = _known(name, _FILES, "data file")
    folder = os.environ.get("SUDARE_DATA")
    if folder and (given := Path(folder, name)).is_file():
        return _checked(given, file)
    return _download(file)


def load(name: str) -> pl.DataFrame:
    """A table of the collection as a frame with named columns; a missing value is null.

    >>> load("adult-arx").shape
    (30162, 9)
    """
    return _READERS[describe(name).name]()


def _known(name: str, entries: dict[str, _Entry], kind: str) -> _Entry:
    if name not in entries:
        raise ParameterError(f"There is no {kind} '{name}'. Name one of these: {', '.join(entries)}.")
    return entries[name]


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _checked(given: Path, file: _File) -> Path:
    found = _sha256(given)
    if found not in file.sha256:
        raise InputError(
            f"'{given}' is not the file that the catalogue knows: its sha256 is {found}, but"
            f" {' or '.join(file.sha256)} was expected. Put the right file there. Its origin is {file.origin}."
        )
    return given


def _download(file: _File) -> Path:
    """The file from the cache, or from its origin. What arrives is checked aside, so nothing half-done stays."""
    advice = f"Set SUDARE_DATA to a folder that has it as '{file.name}'. Its origin is {file.origin}."
    if file.url is None:
        raise InputError(
            f"'{file.name}' is not on this machine, and no address is known that serves its very bytes. {advice}"
        )
    kept = Path(pooch.os_cache("sudare"), file.name)
    # A damaged copy is simply fetched again, which is why writing it needs no fsync.
    if kept.is_file() and _sha256(kept) in file.sha256:
        return kept
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as aside:
            arrived = _fetch(file.url, file.member, Path(aside))
            found = _sha256(arrived)
            if found in file.sha256:
                return arrived.replace(kept)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as fault:
        raise InputError(
            f"'{file.name}' could not be had from {file.url} ({type(fault).__name__}). {advice}"
        ) from fault
    raise InputError(
        f"'{file.name}' as downloaded from {file.url} is not the file that the catalogue knows: its sha256 is"
        f" {found}, but {' or '.join(file.sha256)} was expected. Nothing was kept. {advice}"
    )


def _fetch(url: str, member: str | None, folder: Path) -> Path:
    """Download into the folder; from a zip archive take the member, and uncompress that if it is a .gz."""
    arrived = folder / PurePosixPath(url).name
    pooch.HTTPDownloader()(url, str(arrived), None)
    if member is None:
        return arrived
    pooch.Unzip(members=[member], extract_dir="unpacked")(str(arrived), "download", None)
    unpacked = folder / "unpacked" / member
    if member.endswith(".gz"):
        return Path(pooch.Decompress()(str(unpacked), "download", None))
    return unpacked


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
    """The numbers stay text, exactly as written: their hierarchies cut digits off."""
    columns = [f"c{i}" for i in range(1, 13)]
    file = path("japanese_vowels/ae.test")
    lines = pl.read_csv(file, has_header=False, new_columns=columns, separator=" ", infer_schema=False)
    return lines.drop_nulls("c1")  # An empty line ends a block.


def _ipums() -> pl.DataFrame:
    """All text, because codes have leading zeros."""
    file = path("ipums/ipums.la.97.gz")
    return pl.read_csv(file, has_header=False, new_columns=_IPUMS_COLUMNS.split(), infer_schema=False)


def _metro_traffic() -> pl.DataFrame:
    table = _typed("metro_traffic/Metro_Interstate_Traffic_Volume.csv")
    # UCI's own copy writes 72 temperatures with a float's tail (272.11400000000003); all have three decimals.
    return table.with_columns(
        pl.col("temp").round(3),
        pl.col("date_time").str.to_datetime("%Y-%m-%d %H:%M:%S"),
    )


def _typed(file: str, separator: str = ",") -> pl.DataFrame:
    """A file with a header, whose types polars finds by reading all of it."""
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
}
