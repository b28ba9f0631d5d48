"""What laws and standards ask of published data about people: each criterion in our words, the figures that speak to it, and
what is left to a person. Nothing here says that a release meets any of them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Topic = Literal[
    "done",
    "columns",
    "identifiers",
    "singling out",
    "linking",
    "inference",
    "knowing",
    "releases",
    "use",
    "kept",
]
"""What figures can speak of."""


class Criterion(NamedTuple):
    """Something that is asked, the figures that speak to it, and what they do not answer."""

    asked: str
    topics: tuple[Topic, ...]
    left: str


class Framework(NamedTuple):
    """A law or a standard."""

    name: str
    about: str
    criteria: tuple[Criterion, ...]


EXPERT = Framework(
    "HIPAA, Expert Determination",
    "45 CFR 164.514(b)(1): the other way beside Safe Harbor by which health information counts as de-identified.",
    (
        Criterion(
            "Somebody who knows the accepted statistical and scientific methods of de-identification, and has experience with "
            "them, applies them.",
            ("done",),
            "Who that is, and what makes them an expert. A tool is none.",
        ),
        Criterion(
            "They find that the risk is very small that an expected recipient could identify a person, from this "
            "information alone or with other information that can reasonably be had.",
            ("singling out", "linking", "knowing"),
            "What is very small here; who the recipients are; what else they can get; and whether they know more of people than "
            "the columns that were called quasi.",
        ),
        Criterion(
            "Their methods and results, which justify it, are documented.",
            ("columns", "kept"),
            "The determination itself, signed; and when it is to be made again, since what others can get changes.",
        ),
    ),
)

GDPR = Framework(
    "GDPR, recital 26",
    "Whether information is anonymous, so that the regulation does not apply to it. The recital names singling out; the Article 29 Working "
    "Party's Opinion 05/2014 asks of a technique whether singling out, linking and inference are still possible.",
    (
        Criterion(
            "Singling out: can the records of one person be told from all others?",
            ("singling out",),
            "Whether the columns that are not quasi are really unknown to outsiders: who knows those can look people up by them.",
        ),
        Criterion(
            "Linkability: can two records of the same person, or group, be put together, here or with another source?",
            ("linking", "releases"),
            "Which other sources hold these people, and which values they share with this one.",
        ),
        Criterion(
            "Inference: can a value be concluded of somebody, with significant probability, from others?",
            ("inference", "knowing"),
            "Which probability is significant for these values; what holds for many people can always be concluded of each.",
        ),
        Criterion(
            "All means count that the holder or anybody else is reasonably likely to use, at the cost, time and technology of now "
            "and of what is to come.",
            ("knowing", "kept"),
            "Whether the holder, who keeps the original, counts as somebody who can identify: the Opinion is strict there. And how "
            "long this assessment stands.",
        ),
    ),
)

ISO = Framework(
    "ISO/IEC 27559:2022",
    "A framework for de-identification that enhances privacy: context, data, identifiability, and governance.",
    (
        Criterion(
            "The context is assessed: who gets the data, how they protect them, what might move them to identify people and what they "
            "can do; what harm there would be; how open one is about it.",
            ("releases",),
            "All of it, but for what the ledger says of receivers: contracts, security, motives and harm are no figures.",
        ),
        Criterion(
            "The data are assessed: whom they are about, what kinds of attributes there are; and which attacks are to be modelled, "
            "with the largest or the average risk, of a population or of a sample.",
            ("columns", "linking"),
            "Whether every column has its right role, and whether this is a sample of a population that is known to be larger.",
        ),
        Criterion(
            "Identifiability is quantified, and tested as an adversary would; and reduced, by the environment or by changing the data, "
            "and then assessed again.",
            ("singling out", "linking", "inference", "knowing"),
            "The threshold that it is held against, and controls of the environment, which would lower the risk further.",
        ),
        Criterion(
            "There is governance before data are made available, and after: roles, policies, monitoring, and what is done in case of an "
            "incident.",
            ("kept", "releases"),
            "Who is responsible from now on, what recipients have agreed to, and who watches what else becomes known.",
        ),
    ),
)

NIST = Framework(
    "NIST SP 800-188",
    "De-Identifying Government Datasets: Techniques and Governance (2023), guidance for agencies.",
    (
        Criterion(
            "Goals of the release and its possible risks are weighed first.",
            ("use",),
            "What the data are for, and whether what is left of them serves that.",
        ),
        Criterion(
            "A way of sharing is chosen: de-identified data, synthetic data, a query interface, or a protected place.",
            ("done",),
            "Whether another way, such as access in a protected place, would do with less risk.",
        ),
        Criterion(
            "A de-identification standard with measurable levels of performance may be adopted.",
            ("singling out", "inference"),
            "Which levels the agency has set; those here are what was asked for in this release.",
        ),
        Criterion(
            "Re-identification studies may gauge the risk.",
            ("linking", "knowing"),
            "A study with real outside sources: attacks here are computed from the release and the original.",
        ),
        Criterion(
            "A Disclosure Review Board may oversee it, over the life of the data.",
            ("releases", "kept"),
            "The board, its decision, and when it looks at this again.",
        ),
    ),
)

JAPAN = Framework(
    "Japan: anonymously processed information",
    "Act on the Protection of Personal Information, article 43 and following, and the standards for processing in its enforcement "
    "rules (for business operators; public bodies have like rules of their own).",
    (
        Criterion(
            "Descriptions that identify a person, in whole or in part, are deleted, or replaced in a way that cannot be undone by rule.",
            ("columns", "identifiers"),
            "Every finding of the stage before; texts that people wrote freely.",
        ),
        Criterion(
            "Individual identification codes, as the cabinet order lists them, are all deleted or so replaced.",
            ("identifiers",),
            "Whether a column holds such a code (of a body, or of a document such as a passport): patterns know only some.",
        ),
        Criterion(
            "Codes that link the information with other information that is held are deleted or so replaced.",
            ("linking", "identifiers"),
            "Whether a published code is used anywhere else in the house.",
        ),
        Criterion(
            "Singular descriptions, which stand out by themselves, are deleted or so replaced.",
            ("singling out",),
            "Rare values in columns that were passed on as they are: an illness that few have, an age or an income far from all others.",
        ),
        Criterion(
            "Beyond that, suitable measures are taken by how a record differs from others, and by what kind of database it is.",
            ("singling out", "inference", "knowing"),
            "Whether what was asked for suits a database of this kind.",
        ),
        Criterion(
            "When it is made, the kinds of information in it are made public; when it is given to others, also how, and they are told "
            "what it is. What was deleted, and how it was processed, is kept safe. Nobody matches it with other information to identify people.",
            ("kept", "releases"),
            "Both publications, the notice to the recipient, and the security of the original and of the folder keep.",
        ),
    ),
)

FRAMEWORKS = (EXPERT, GDPR, ISO, NIST, JAPAN)
