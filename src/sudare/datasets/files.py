"""The files of the collection: where each comes from, its checksums, and how it gets onto this machine.

A file is taken from the folder that the environment variable SUDARE_DATA names, if it is there; else it is
downloaded from its origin and kept in a cache folder. Either way it is used only if its checksum is one that
is listed here, where any is.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import shutil
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from sudare.errors import InputError, ParameterError
from sudare.tables.typed import typed

_Entry = TypeVar("_Entry")

# What a download and an archive can have wrong with them.
_FAULTS = (OSError, EOFError, zipfile.BadZipFile, zlib.error)

_UCI = "https://archive.ics.uci.edu"
_ARX = "https://raw.githubusercontent.com/arx-deidentifier/arx/aacd487fb77b3af7970d5d6fa1b2f6cca1182b64/data"
_PGM = (
    "https://raw.githubusercontent.com/ryan112358/private-pgm/4d2b3c566b148da3ef800ce76e6189c548f2da22/data"
)
_OPENML = (
    "https://raw.githubusercontent.com/datasets/openml-datasets/33fdb1a80bb44d92180fba7af46ef0622d54e52b/data"
)
_NIST = "usnistgov/SDNist/f048b1c2ca3815239982ac181ec8cd01840fc351/BenchmarkData/ACSDataExcerpts"

_ADULT_PAGE = f"{_UCI}/dataset/2/adult"
_COIL_PAGE = f"{_UCI}/dataset/125/insurance+company+benchmark+coil+2000"
_IPUMS_PAGE = f"{_UCI}/dataset/127/ipums+census+database"
_ARX_PAGE = "https://github.com/arx-deidentifier/arx"
_NIST_PAGE = "https://github.com/usnistgov/SDNist"


@dataclass(frozen=True)
class File:
    """A file of the collection, the checksums it may have, and where it can be downloaded.

    The second checksum, where there is one, is that of the origin's own copy: the same table in other bytes
    (line ends, the last digit of a float). Without `url`, no address is known that serves the very bytes. Without any
    checksum, nobody here has had the file yet: it is taken as it is given, and never downloaded.
    """

    name: str
    sha256: tuple[str, ...]
    origin: str
    url: str | None = None
    member: str | None = None
    """The file's name in the zip archive that `url` serves."""


def _adult_file(name: str, sha256: str) -> File:
    return File(f"adult/{name}", (sha256,), _ADULT_PAGE, f"{_UCI}/static/public/2/adult.zip", name)


def _arx_file(name: str, sha256: str) -> File:
    return File(f"arx_hierarchies/{name}", (sha256,), _ARX_PAGE, f"{_ARX}/{name}")


def _openml_file(name: str, number: int, sha256: str) -> File:
    page = f"https://www.openml.org/d/{number}"
    return File(f"{name}/{name}.csv", (sha256,), page, f"{_OPENML}/{name}/{name}.csv")


def _nist_rows(excerpt: str, folder: str, *sha256: str) -> File:
    url = (
        f"https://media.githubusercontent.com/media/{_NIST}/{folder}/{excerpt}.csv"  # it is kept with Git LFS
    )
    return File(f"nist_excerpts/{excerpt}.csv", sha256, _NIST_PAGE, url)


def _nist_schema(excerpt: str, folder: str, sha256: str) -> File:
    url = f"https://raw.githubusercontent.com/{_NIST}/{folder}/{excerpt}.json"
    return File(f"nist_excerpts/{excerpt}.json", (sha256,), _NIST_PAGE, url)


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

FILES = {
    file.name: file
    for file in (
        _adult_file("adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        _adult_file("adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
        _adult_file("adult.names", "c248284c0b5de30c9e1958d6cdd168a34a654758b620e68f46aefa83fc0a576a"),
        File(
            "adult/adult-domain.json",
            ("734f07d75cbc2acbe711984e6db520b3e95c9c727cf448c528ce0b38347bb147",),
            "https://github.com/ryan112358/private-pgm",
            f"{_PGM}/adult-domain.json",
        ),
        _arx_file("adult.csv", "c700df9304fbf3c4d4db5938bffc510561bd4a2dfad285a3feef9a20619391c5"),
        *(_arx_file(f"adult_hierarchy_{name}.csv", sha256) for name, sha256 in _HIERARCHIES.items()),
        File(
            "coil2000/ticdata2000.txt",
            (
                "4e967da7c4d1759b9f2ddbd39aace45af6a6685a7a7ecd6febb161a60dd8fe0a",
                "5d5bdca1be0b9a6c012b93a8c8104761201bd70f7e08764fa67f2cfb26243723",
            ),
            _COIL_PAGE,
            f"{_UCI}/ml/machine-learning-databases/tic-mld/ticdata2000.txt",
        ),
        File(
            "coil2000/TicDataDescr.txt",
            ("8692cd6dc5e2ff481c5599c2f90c18749c5ac2212cc1aba664719e513e6bc430",),
            _COIL_PAGE,
        ),
        File(
            "japanese_vowels/ae.test",
            ("72af4d36589cecc6933e0c640dcc91c7a3acfc6aca6b2f9017b7ee0b24e79166",),
            f"{_UCI}/dataset/128/japanese+vowels",
        ),
        File(
            "ipums/ipums.la.97.gz",
            ("74acb660da418c1932ae5409717dd97f9f8f27a133bf1393da5546637f13dba4",),
            _IPUMS_PAGE,
        ),
        File(
            "ipums/ipums.la.names",
            ("49fd46753d9a0949cb34036d71ce0cfd57c25a55b708ae3c05ed9fd8d4559cb0",),
            _IPUMS_PAGE,
        ),
        File(
            "metro_traffic/Metro_Interstate_Traffic_Volume.csv",
            (
                "3ec6b8844c4e5e20904855c81079a30e4342da20b7010e78606a244e539f29f6",
                "749c90d720360a4215bb15345526073c079ba4cc95e3fa558796d083f85fce9e",
            ),
            f"{_UCI}/dataset/492/metro+interstate+traffic+volume",
            f"{_UCI}/static/public/492/metro+interstate+traffic+volume.zip",
            "Metro_Interstate_Traffic_Volume.csv.gz",
        ),
        _openml_file("electricity", 151, "c10a416790ef8ab96089e5adfd2febb7c9cec72bd80dfecb2342f2283b86b88a"),
        _openml_file("phoneme", 1489, "d78411a6cb2ce7769c222befa4a454e6f055a935fa56abcf93af60b226d9e219"),
        File("bitcoin/BitcoinHeistData.csv", (), f"{_UCI}/dataset/526/bitcoinheistransomwareaddressdataset"),
        _openml_file("jm1", 1053, "c25f790d6b59b0c719f241ef0b65f24c576d17eed0c158778f061b609ae18a93"),
        _nist_rows(
            "national2019",
            "national",
            "9e039c8e47c9e998d60f66fd50ec620fc2d0703decdc21f3069c9844fbef979b",
            "b49ba83e18472b6b76438bb511a01668bdbe2c1ace54521614a32edcc748f79a",
        ),
        _nist_schema(
            "national2019",
            "national",
            "67a173f0cf4dd702a1e73a480a0446372dd5f3711fc2ee32947fd862c44dafad",
        ),
        _nist_rows(
            "ma2019",
            "massachusetts",
            "5489f7d45bccad8ae591dfe9011638def521b3f8641edf169bb45fea2c62fb44",
            "4f1e49c938674f6f623a86f6abef75c6c466012cc9296df21c3d678fb08ad0b0",
        ),
        _nist_schema(
            "ma2019",
            "massachusetts",
            "5ae7498b794e7216e33e7ddd42f024f24c069b806ced2ab8c443fb963ddcac4c",
        ),
    )
}


@typed
def path(name: str) -> Path:
    """Return the path of a file of the collection, downloaded if it is not on this machine, with its checksum checked.

    >>> path("arx_hierarchies/adult_hierarchy_age.csv").name
    'adult_hierarchy_age.csv'
    """
    file = known(name, FILES, "data file")
    folder = os.environ.get("SUDARE_DATA")
    if folder and (given := Path(folder, name)).is_file():
        return _checked(given, file)
    return _download(file)


def known(name: str, entries: dict[str, _Entry], kind: str) -> _Entry:
    """Return the entry of that name; an unknown name is refused with a list of those that there are."""
    if name not in entries:
        raise ParameterError(f"There is no {kind} '{name}'. Name one of these: {', '.join(entries)}.")
    return entries[name]


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _checked(given: Path, file: File) -> Path:
    checksum = _sha256(given)
    if file.sha256 and checksum not in file.sha256:
        raise InputError(
            f"'{given}' is not the file that the catalogue knows: its sha256 is {checksum}, but"
            f" {' or '.join(file.sha256)} was expected. Put the right file there. Its origin is {file.origin}."
        )
    return given


def _download(file: File) -> Path:
    """Return the file from the cache, or from its origin. What arrives is checked aside, so nothing half-done stays."""
    advice = f"Set SUDARE_DATA to a folder that has it as '{file.name}'. Its origin is {file.origin}."
    if file.url is None:
        raise InputError(
            f"'{file.name}' is not on this machine, and no address is known that serves its very bytes. {advice}"
        )
    kept = _place(file)
    # A damaged copy is simply fetched again, which is why writing it needs no fsync.
    if kept.is_file() and _sha256(kept) in file.sha256:
        return kept
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as aside:
            arrived = Path(aside, PurePosixPath(file.url).name)
            _pooch().HTTPDownloader()(file.url, str(arrived), None)
            checksum = _keep(file, arrived)
            if checksum in file.sha256:
                _keep_what_else_is_in(arrived, file)
                return kept
    except _FAULTS as fault:
        raise InputError(
            f"'{file.name}' could not be downloaded from {file.url} ({type(fault).__name__}). {advice}"
        ) from None
    raise InputError(
        f"'{file.name}' as downloaded from {file.url} is not the file that the catalogue knows: its sha256 is"
        f" {checksum}, but {' or '.join(file.sha256)} was expected. Nothing was kept. {advice}"
    )


def _place(file: File) -> Path:
    return Path(_pooch().os_cache("sudare"), file.name)


def _pooch() -> Any:
    import pooch  # it takes long to load, and few need it

    return pooch


def _keep(file: File, arrived: Path) -> str:
    """Put what arrived, or the file's member of it, in its place if its checksum, which is returned, is right."""
    if file.member is not None:
        arrived = _unpack(arrived, file.member)
    checksum = _sha256(arrived)
    if checksum in file.sha256:
        arrived.replace(_place(file))
    return checksum


def _keep_what_else_is_in(archive: Path, file: File) -> None:
    """Keep the other files that the archive serves, so that it is downloaded once for all of them."""
    for other in FILES.values():
        if other.url == file.url and other is not file:
            with contextlib.suppress(*_FAULTS):  # Nobody has asked for this one yet.
                _keep(other, archive)


def _unpack(archive: Path, member: str) -> Path:
    """Take the member out of the zip archive, and uncompress it if it is a .gz."""
    with zipfile.ZipFile(archive) as members:
        if member not in members.namelist():
            raise FileNotFoundError(f"'{member}' is not in the archive")
        unpacked = Path(members.extract(member, archive.parent / "unpacked"))
    if member.endswith(".gz"):
        packed, unpacked = unpacked, unpacked.with_suffix("")
        with gzip.open(packed) as source, unpacked.open("wb") as target:
            shutil.copyfileobj(source, target)
    return unpacked
