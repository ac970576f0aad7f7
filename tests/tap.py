# SPDX-License-Identifier: MIT
"""The test harness of the Python tests: one named property per line, printed as TAP.

    def headers_install(): assert installed == expected, difference
    sys.exit(tap.run(headers_install))
"""

import traceback


class Skip(Exception):
    """Raised by a property that cannot be tested here; its text says why."""


def run(*properties):
    failed = 0
    for number, test in enumerate(properties, 1):
        result, directive = "ok", ""
        try:
            test()
        except Skip as reason:
            directive = f" # SKIP {reason}"
        except Exception:
            failed += 1
            result = "not ok"
            for line in traceback.format_exc().splitlines():
                print("#", line)
        print(f"{result} {number} - {test.__name__}{directive}", flush=True)
    print(f"1..{len(properties)}")
    return 1 if failed else 0
