"""The certificate is a word of `privacy`, which p-views know, too; here it stands for whoever looks for it here."""

from sudare.privacy.certificate import VERSIONED, Certificate, InputHash, PublishedAttribute, versions

__all__ = ["VERSIONED", "Certificate", "InputHash", "PublishedAttribute", "versions"]
