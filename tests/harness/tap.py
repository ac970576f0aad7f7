# SPDX-License-Identifier: MIT
"""The test harness of the Python tests: one named property per line, printed as TAP.

    def headers_install(): assert installed == expected, difference
    sys.exit(tap.run(headers_install))
"""

import os
import traceback


class Skip(Exception):
    """Raised by a property that cannot be tested here; its text says why."""


def describe(error):
    """Where a check failed and its text; for any other exception the whole trace."""
    if not isinstance(error, AssertionError) or not str(error):
        return "".join(traceback.format_exception(error))
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{os.path.basename(place.filename)}:{place.lineno}: {error}"


def wanted(properties):
    """MPNUM_PROPERTY, a part of a name, leaves out all others and says which they are."""
    part = os.environ.get("MPNUM_PROPERTY", "")
    for test in properties:
        if part not in test.__name__:
            print("# has", test.__name__)
    return [test for test in properties if part in test.__name__]


def run(*properties):
    failed = 0
    properties = wanted(properties)
    for number, test in enumerate(properties, 1):
        result, directive = "ok", ""
        try:
            test()
        except Skip as reason:
            directive = f" # SKIP {reason}"
        except Exception as error:
            failed += 1
            result = "not ok"
            for line in describe(error).splitlines():
                print("#", line)
        print(f"{result} {number} - {test.__name__}{directive}", flush=True)
    print(f"1..{len(properties)}")
    return 1 if failed else 0
