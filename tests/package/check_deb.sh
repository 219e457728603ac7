#!/usr/bin/env bash
# Builds the Debian package and uses it as an installed one.
#   tests/package/check_deb.sh VERSION [CMAKE-OPTION]...
set -euo pipefail
version=$1
shift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
package=$("$here/../../tools/package.sh" "$@")
exec "$here/check_package.sh" "$package" "$version" "$@"
