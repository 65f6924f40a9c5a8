#!/usr/bin/env bash
# Makes a genuine Windows CPython that runs in Wine, from apt and pip alone.
#
#   setup.sh FOLDER PYTHON
#
# FOLDER holds all of it; a second run takes seconds. FOLDER/python is the command: what it prints
# has to go through a pipe, for in Wine 8 Python ends at its start where it would write to a file.
# PYTHON is a CPython of this computer, with pip: its version and standard library are taken.
set -euo pipefail
packages="wine wine64 winbind gcc-mingw-w64-x86-64 unzip xvfb xdotool fonts-dejavu-core fonts-wine"
mkdir -p "${1:?a folder}"
root=$(cd "$1" && pwd)
linux=${2:?a Python}
tag=$("$linux" -c 'import sys; print("%d%d" % sys.version_info[:2])')
python=$root/python
windows=$root/py$tag
prefix=$root/prefix
build=$root/build
mkdir -p "$build"

for command in wine x86_64-w64-mingw32-gcc unzip Xvfb xdotool; do
    if ! command -v "$command" >/dev/null; then
        echo "$command is missing: apt-get install -y --no-install-recommends $packages" >&2
        exit 2
    fi
done

# What is drawn is drawn on the screen of whoever calls it. The two libraries that are left out are
# those of .NET and of web pages.
cat >"$python" <<E
#!/bin/sh
unset WAYLAND_DISPLAY
export WINEPREFIX='$prefix' WINEARCH=win64 WINEDEBUG=-all
export WINEDLLOVERRIDES='mscoree=;mshtml='
exec wine '$windows/python.exe' "\$@"
E
chmod +x "$python"

# The DLLs of python.org: the wheel of panda3d brings them, for applications made with it.
if [ ! -f "$windows/python$tag.dll" ]; then
    "$linux" -m pip download -q --no-deps --only-binary=:all: --platform win_amd64 \
        --python-version "$tag" -d "$build" panda3d
    rm -rf "$build/wheel"
    unzip -q "$build"/panda3d-*.whl 'deploy_libs/*' -d "$build/wheel"
    mkdir -p "$windows/DLLs"
    cd "$build/wheel/deploy_libs"
    # Left out: for what `_wmi` calls, Wine 8 has no function, and would wait for a debugger.
    rm -f api-ms-win-crt-* ./*.cp3*t-* _wmi*.pyd
    for library in vcruntime140*.dll VCRUNTIME140*.dll zlib1.dll; do
        [ ! -e "$library" ] || mv "$library" "$windows"
    done
    mv python"$tag".dll "$build/python$tag.dll"
    mv ./* "$windows/DLLs"
    mv "$build/python$tag.dll" "$windows" # last: that it is there says that all is
    cd "$root"
    rm -rf "$build/wheel" "$build"/panda3d-*.whl
fi

# The standard library is the same on every system.
if [ ! -f "$windows/Lib/.whole" ]; then
    library=$("$linux" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    mkdir -p "$windows/Lib"
    tar -C "$library" -cf - --exclude=__pycache__ --exclude=./lib-dynload --exclude=./test \
        --exclude=./site-packages --exclude=./idlelib --exclude='./config-*' \
        --exclude='./_sysconfigdata*' . | tar -C "$windows/Lib" -xf -
    # The DLL may be of a later release than the library, and calls this one on the class.
    sed -i '/^    @classmethod$/ {n; b}; s/^    def invalidate_caches(cls)/    @classmethod\n&/' \
        "$windows/Lib/importlib/metadata/__init__.py"
    # From Python 3.12 on files are copied by a function that Wine 8 lacks.
    find "$windows/Lib"/shutil.py "$windows/Lib"/pathlib* -name '*.py' \
        -exec sed -i "s/hasattr(_winapi, [\"']CopyFile2[\"'])/False/" {} +
    mkdir -p "$windows/Lib/site-packages"
    touch "$windows/Lib/.whole"
fi

if [ ! -f "$windows/python.exe" ]; then
    cat >"$build/python.c" <<C
#include <windows.h>
#include <wchar.h>
typedef int (*py_main)(int, wchar_t **);
int wmain(int argc, wchar_t **argv) {
    wchar_t path[MAX_PATH];
    DWORD end = GetModuleFileNameW(NULL, path, MAX_PATH);
    while (end && path[end - 1] != L'\\\\') end--;
    wcscpy(path + end, L"python$tag.dll");
    HMODULE dll = LoadLibraryW(path);
    if (!dll) return 103;
    return ((py_main)GetProcAddress(dll, "Py_Main"))(argc, argv);
}
C
    x86_64-w64-mingw32-gcc -O1 -municode -o "$windows/python.exe" "$build/python.c"
fi

# The stable interface, for wheels that are good for every version: each name is forwarded.
if [ ! -f "$windows/python3.dll" ]; then
    {
        echo "LIBRARY python3.dll"
        echo "EXPORTS"
        x86_64-w64-mingw32-objdump -p "$windows/python$tag.dll" |
            awk '/Ordinal\/Name Pointer\] Table/ {on=1; next} on && /\[/ {print $NF} /^$/ {on=0}' |
            grep -E '^_?Py' | sed "s/.*/&=python$tag.&/"
    } >"$build/python3.def"
    echo 'int DllMain(void *module, unsigned why, void *more) { return 1; }' >"$build/empty.c"
    x86_64-w64-mingw32-gcc -shared -nostdlib -Wl,-e,DllMain -o "$windows/python3.dll" \
        "$build/empty.c" "$build/python3.def"
fi

# The folder in which Wine keeps its drive C, with two libraries that Wine 8 lacks: random numbers,
# and ICU, which only has to be there.
if [ ! -f "$prefix/.whole" ]; then
    rm -rf "$prefix"
    export WINEPREFIX=$prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml='
    wine wineboot -i >/dev/null 2>&1 || true
    wine reg add 'HKCU\Software\Wine' /v Version /d win10 /f 2>&1 | cat >/dev/null
    cat >"$build/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
    return SystemFunction036(data, (ULONG)size);
}
C
    cat >"$build/icu.c" <<'C'
#define MISSING(name) __declspec(dllexport) void *name(void) { return 0; }
__declspec(dllexport) void *ucnv_open(const char *name, int *error) {
    if (error) *error = 4; // U_FILE_ACCESS_ERROR
    return 0;
}
MISSING(ucnv_close) MISSING(ucnv_convertEx) MISSING(ucnv_countAvailable) MISSING(ucnv_fromUnicode)
MISSING(ucnv_getAlias) MISSING(ucnv_getAvailableName) MISSING(ucnv_getDefaultName)
MISSING(ucnv_getMaxCharSize) MISSING(ucnv_getMinCharSize) MISSING(ucnv_getName)
MISSING(ucnv_getStandardName) MISSING(ucnv_reset) MISSING(ucnv_resetFromUnicode)
MISSING(ucnv_resetToUnicode) MISSING(ucnv_setFromUCallBack) MISSING(ucnv_setSubstString)
MISSING(ucnv_setToUCallBack) MISSING(ucnv_toUnicode) MISSING(ucnv_fromUCountPending)
MISSING(ucnv_toUCountPending) MISSING(ucnv_countAliases) MISSING(ucnv_countStandards)
MISSING(u_errorName) MISSING(ucol_open) MISSING(ucol_close) MISSING(ucal_open) MISSING(ucal_close)
C
    system32=$prefix/drive_c/windows/system32
    x86_64-w64-mingw32-gcc -shared -o "$system32/bcryptprimitives.dll" "$build/random.c" -ladvapi32
    x86_64-w64-mingw32-gcc -shared -o "$system32/icuuc.dll" "$build/icu.c"
    touch "$prefix/.whole"
fi

# The desktop. Without a window manager Wine waits two seconds for it whenever a window is hidden,
# unless it does not manage the windows. Qt draws with the desktop's fonts, which are missing.
if [ ! -f "$prefix/.desktop" ]; then
    export WINEPREFIX=$prefix WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml='
    wine reg add 'HKCU\Software\Wine\X11 Driver' /v Managed /d N /f 2>&1 | cat >/dev/null
    # A LOGFONTW: 12 pixels high, of weight 400, and the name in UTF-16.
    font=$("$linux" -c 'import struct; print((struct.pack("<5l8B", -12, 0, 0, 0, 400, *b"\0\0\0\1\0\0\0\0")
        + "DejaVu Sans".encode("utf-16-le").ljust(64, b"\0")).hex())')
    for name in MessageFont MenuFont StatusFont IconFont CaptionFont SmCaptionFont; do
        wine reg add 'HKCU\Control Panel\Desktop\WindowMetrics' /v "$name" /t REG_BINARY \
            /d "$font" /f 2>&1 | cat >/dev/null
    done
    # The signs on a window's own buttons.
    [ ! -e /usr/share/wine/fonts/marlett.ttf ] ||
        cp /usr/share/wine/fonts/marlett.ttf "$prefix/drive_c/windows/Fonts"
    wineserver -k || true # it writes the registry as it ends
    touch "$prefix/.desktop"
fi

if [ ! -d "$windows/Lib/site-packages/pip" ]; then
    "$python" -m ensurepip 2>&1 | cat >"$build/ensurepip.log" || {
        tail -5 "$build/ensurepip.log" >&2
        exit 1
    }
fi
system=$("$python" -c 'import sys; print(sys.platform, end="")' 2>/dev/null | cat)
if [ "$system" != win32 ]; then
    echo "Python does not start in Wine" >&2
    exit 1
fi
