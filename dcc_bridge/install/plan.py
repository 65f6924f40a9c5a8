"""Installs the plug-in, and replaces an older one. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from os.path import lexists
from pathlib import Path
from typing import Final

from dcc_bridge import held_files, store_programs
from dcc_bridge.errors import DISTRIBUTION
from dcc_bridge.install import locations as targets
from dcc_bridge.install import vendor
from dcc_bridge.install.builds import BUILDS, Build, build_for
from dcc_bridge.install.folders import (
    NEW,
    OLD,
    files_below,
    make_folders,
    put_aside,
    remove_if_empty,
    staging,
)
from dcc_bridge.install.installed import InstalledFiles, NotOurs

_OLDEST_PYTHON: Final = (3, 11)


@dataclass(frozen=True, slots=True)
class Plan:
    """The installation of a plug-in, which `check` prepares and `install` does.

    Attributes:
        application: The application.
        facts: The version and the Python of the application.
        location: The place of the plug-in.
        system: The operating system and the user.
    """

    application: targets.InstallTarget
    facts: targets.Facts
    location: targets.Location
    system: targets.System

    @property
    def python(self) -> str:
        """The minor version of the application's Python."""
        return self.facts.python or ""

    @property
    def build(self) -> Build:
        """The system and the processor that the packages are fetched for.

        Raises:
            UnknownLocation: There are no packages for the processor.
        """
        build = build_for(self.system.platform, self.facts.machine)
        if build is None:
            why = f"{self.application.title} runs on {self.facts.machine}"
            raise targets.UnknownLocation(f"{why}; there are packages for {', '.join(BUILDS)}.")
        return build

    def sentences(self) -> list[str]:
        """Return the steps of the installation, a line each."""
        location = self.location
        version = ""
        if self.facts.version:
            version = f" {self.facts.version}"
        program = ""
        if self.facts.program:
            program = f" ({self.facts.program})"
        lines = [
            f"{self.application.title}{version}{program}, with Python {self.python}:",
            f"  put the plug-in into {location.folder}",
            f"  put the bridge and what it depends on into {location.folder / location.vendor}",
            f"    ({', '.join(vendor.names())}; no Qt)",
        ]
        for file in location.texts:
            lines.append(f"  write {file}")
        return lines

    def check(self) -> InstalledFiles | None:
        """Check that the plug-in can be installed.

        Returns:
            The installation that will be replaced, if there is one.

        Raises:
            UnknownLocation: The version or the Python of the application does not fit, or Windows
                would put the plug-in elsewhere.
            NotOurs: There are files that we did not install.
        """
        title = self.application.title
        version = self.facts.version
        oldest = self.application.oldest
        if version and () < targets.numbers(version) < oldest:
            needed = ".".join(str(number) for number in oldest)
            raise targets.UnknownLocation(f"{title} {version} is too old; {needed} is needed.")
        if version and self.facts.program is None:  # the person named this version
            self.application.check_known(version)
        if targets.numbers(self.python) < _OLDEST_PYTHON:
            needs = "the bridge needs 3.11 or newer"
            raise targets.UnknownLocation(f"{title} has Python {self.python}; {needs}.")
        redirection = store_programs.redirection(self.location.folder)
        if redirection:
            raise targets.UnknownLocation(f"{redirection}.")
        _ = self.build  # there are packages for it
        other = self.application.other_form(self.system, self.facts)
        if other is not None:
            raise targets.UnknownLocation(
                f"The bridge is in {title} already, as an extension in {other}. Remove that in "
                f"{title} first."
            )
        return self._check_place()

    def _check_place(self) -> InstalledFiles | None:
        folder = self.location.folder
        old = InstalledFiles.read(folder)
        if old is None:
            for path in (folder, *self.location.texts):
                if lexists(path):
                    raise NotOurs(f"{path} was not installed by dcc-bridge; move it away first.")
            return None
        foreign = old.foreign()
        if foreign:
            problem = f"{folder} contains other files, such as {foreign[0]}"
            raise NotOurs(f"{problem}. Move them away and install again.")
        changed = old.changed()
        if changed:
            problem = f"Files were changed since they were installed, such as {changed[0]}"
            raise NotOurs(f"{problem}. Move them away and install again.")
        return old

    def install(self) -> InstalledFiles:
        """Install the plug-in as a whole, and replace an older one.

        After an error nothing has changed.

        Returns:
            The installation.

        Raises:
            UnknownLocation: The version or the Python of the application does not fit, or Windows
                would put the plug-in elsewhere.
            NotOurs: There are files that we did not install.
            NotVendored: A dependency of the bridge cannot be fetched.
            InUse: The application holds files of the older plug-in open.
            OSError: A file cannot be written.
        """
        old = self.check()
        folder = self.location.folder
        new_folders: list[Path] = []
        if old is not None:
            new_folders += old.new_folders
        with ExitStack() as on_failure:
            for parent in (folder.parent, *(file.parent for file in self.location.texts)):
                for new_folder in make_folders(parent):
                    new_folders.append(new_folder)
                    on_failure.callback(remove_if_empty, new_folder)
            # `put_back` undoes its steps in reverse order, so the old plug-in comes back last.
            with staging(folder) as staging_folder, ExitStack() as put_back:
                new = staging_folder / NEW
                self._copy_to(new)
                written = self._write_texts(put_back)
                files = {folder / file.relative_to(new): file for file in files_below(new)}
                installed = InstalledFiles.of(
                    folder, self._facts(), {**files, **written}, new_folders
                )
                installed.save(new)
                # Everything is written. The remaining steps only rename.
                if old is not None:
                    put_aside(folder, staging_folder / OLD, self.application.title)
                    put_back.callback(held_files.replace, staging_folder / OLD, folder)
                held_files.replace(new, folder)
                put_back.callback(held_files.replace, folder, new)
                for file, new_file in written.items():
                    held_files.replace(new_file, file)  # at most one file
                put_back.pop_all()
            on_failure.pop_all()
        return installed

    def _copy_to(self, new: Path) -> None:
        """Copy the plug-in, the bridge and its dependencies into a new folder."""
        for source, target in self.location.sources:
            vendor.copy_sources(self.application.leaf / source, new / target)
        vendor.fill(new / self.location.vendor, self.python, self.build)

    def _write_texts(self, on_failure: ExitStack) -> Mapping[Path, Path]:
        """Write the files outside of the folder under temporary names.

        Returns:
            The temporary path of each file, by its final path.
        """
        written = {}
        for file, text in self.location.texts.items():
            new_file = file.with_name(f"{file.name}.dcc_bridge-new")
            written[file] = new_file
            on_failure.callback(held_files.delete, new_file)
            new_file.write_text(text, encoding="utf-8")
        return written

    def _facts(self) -> dict[str, str]:
        """Return the facts about the installation for its list."""
        return {
            "host": self.application.name,
            "host_version": self.facts.version or "",
            "python": self.python,
            "platform": self.system.platform,
            "build": self.build.name,
            "bridge": metadata.version(DISTRIBUTION),
        }
