"""The environment that a gate's result holds for: GPU, driver, versions of python, torch, triton and CUDA."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from stackmerge.gate.gpu import Device
from stackmerge.gate.spec import JUNIT, PYTHON


def facts(device: Device | None) -> dict[str, str]:
    """What is known of this environment without importing torch. Sources: NVML, and the installed packages."""
    found = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.system()}
    for package in ("torch", "triton"):
        version = _version(package)
        if version:
            found[package] = version
    if device:
        found |= {"gpu": device.name, "driver": device.driver}
    return found


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def shown(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command as people should read it: no path of this machine in it."""
    return tuple(word.replace(PYTHON, "python").replace(JUNIT, "junit.xml") for word in command)


def filled(command: tuple[str, ...], junit: str) -> list[str]:
    """The command with ``{python}`` and ``{junit}`` put in."""
    return [word.replace(PYTHON, sys.executable).replace(JUNIT, junit) for word in command]
