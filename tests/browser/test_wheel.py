"""The wheel, installed away from the checkout: the demo has its pages, pad and sample data."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

from tests.architecture.sources import FILES, ROOT, imports_of

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with a wheel in it that was built from the sdist.

    The packages it needs are lent by this one.

    The checkout's own labeler is not lent: it is an editable install, which only works where its
    .pth file lies.
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    [wheel] = folder.glob("*.whl")
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--disable-pip-version-check", str(wheel)], check=True)
    [own] = venv.glob("lib/python*/site-packages")
    (own / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return venv


@pytest.fixture
def demo(environment: Path, tmp_path: Path) -> Iterator[str]:
    """The address of ``labeler demo``, started from the new environment in an empty folder."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("LABELER")}
    process = subprocess.Popen(
        [environment / "bin" / "labeler", "demo", "--no-browser"],
        cwd=tmp_path,
        env=clean,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = next(line for line in process.stdout if "labeler is at" in line)
    yield line.split()[3].rstrip(";")
    process.terminate()
    process.communicate()


OF_USERS = ("login", "postgres", "spark")  # the extras that are not for who builds labeler


@pytest.mark.slow
def test_the_installed_demo_has_pages_documentation_and_sample_data(
    demo, visit, environment, tmp_path
):
    page = visit(demo)
    expect(page.get_by_role("heading", name="Scores")).to_be_visible()
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page.locator(".chunk .text")).not_to_be_empty()
    page.keyboard.press("2")
    expect(page.locator(".status .state")).to_contain_text("1 saved")
    pages = {"scores": "hybrid", "compare": "hybrid", "queries": "Retrieval fails"}
    for name, words in pages.items():
        page.goto(urljoin(demo, f"/{name}"))
        expect(page.get_by_text(words).first).to_be_visible()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Guide").click()
    expect(opened.value.get_by_role("heading", level=1)).to_contain_text(
        "Find and fix failing queries"
    )
    where = [environment / "bin" / "python", "-c", "import labeler; print(labeler.__file__)"]
    file = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert file.startswith(str(environment)), "the checkout must not have helped"


def test_every_package_it_imports_is_one_it_asks_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(name for of in OF_USERS for name in extras[of])]
    names = {line.split(">")[0].split("[")[0].lower().replace("-", "_") for line in asked}
    called = {"pyspark_client": "pyspark"}
    names |= {called[name] for name in names & called.keys()}
    of_pytest = ROOT / "labeler" / "pytest_plugin.py"  # which nobody but pytest imports
    files = [path for path in FILES if path != of_pytest]
    used = {name for path in files for name in imports_of(path) if not name.startswith("labeler")}
    assert used <= names
