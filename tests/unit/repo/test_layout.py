"""The packages that are built are the folders there are, and files keep to their size."""

from tests.unit.repo.tree import ROOT, configuration, files, package_folders

NOT_INSTALLED = {"benchmarks", "docs", "examples", "tests"}
MAX_LINES = 600
MAX_BYTES = 1_000_000


def test_the_list_of_packages_names_every_folder_with_code():
    with_code = {
        path.parent for path in files(suffix=".py") if path.relative_to(ROOT).parts[0] not in NOT_INSTALLED
    } - {ROOT}
    assert with_code == set(package_folders().values())
    assert [str(folder) for folder in with_code if not (folder / "__init__.py").exists()] == []


def test_the_type_checker_sees_every_package():
    tops = {folder.relative_to(ROOT).parts[0] for folder in package_folders().values()}
    assert set(configuration()["tool"]["pyright"]["include"]) == tops
    for top in tops - {"aicc"}:
        assert (ROOT / ".typing" / "aicc" / top).resolve() == ROOT / top
    links = {link.name: link.resolve() for link in (ROOT / ".typing" / "aicc").iterdir()}
    modules = {module.name: module for module in (ROOT / "aicc").glob("*.py")}
    assert links == modules | {top: ROOT / top for top in tops - {"aicc"}}


def test_no_source_file_is_too_long():
    lengths = {
        str(path.relative_to(ROOT)): path.read_bytes().count(b"\n")
        for suffix in (".py", ".mlir")
        for path in files(suffix=suffix)
    }
    assert {name: length for name, length in lengths.items() if length > MAX_LINES} == {}


def test_no_file_is_large():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in files()}
    assert {name: size for name, size in sizes.items() if size > MAX_BYTES} == {}
