"""Count the pages of a PDF with pikepdf; runs in the sandbox."""

import pikepdf

from forensix.errors import BrokenMedia, LimitExceeded


def probe(source: dict[str, str], max_pages: int) -> dict[str, int | None]:
    """Return the number of pages; None where they are encrypted, which is a fact and no damage."""
    name = source["name"]
    try:
        # The library takes no path that is not UTF-8.
        with open(source["path"], "rb") as file, pikepdf.open(file, suppress_warnings=True) as document:
            n_pages = len(document.pages)
    except pikepdf.PasswordError:
        return {"n_pages": None}
    except pikepdf.PdfError as error:
        # For a certificate, or of a kind that the library does not know: locked like one behind a password.
        if "encryption" in str(error):
            return {"n_pages": None}
        raise _broken(name) from error
    except (ValueError, RuntimeError, TypeError, KeyError) as error:
        raise _broken(name) from error
    if n_pages > max_pages:
        raise LimitExceeded(f"{name} has {n_pages} pages; the limit is {max_pages}")
    if n_pages == 0:
        raise BrokenMedia(f"{name} is damaged: it has no pages")
    return {"n_pages": n_pages}


def _broken(name: str) -> BrokenMedia:
    return BrokenMedia(f"{name} is damaged: its PDF structure cannot be read, as in a file cut short")
