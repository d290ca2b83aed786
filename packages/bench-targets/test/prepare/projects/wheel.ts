import { runSync } from 'bench-machine/subprocess';

const MAKE = `
import pathlib, sys, zipfile
folder, name, version = sys.argv[1:]
info = f"{name}-{version}.dist-info"
pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(f"{folder}/{name}-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr(f"{name}.py", f"VERSION = '{version}'\\n")
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;

/** Makes a wheel with one module, whose `VERSION` is the version. */
export function makeWheel(folder: string, name: string, version: string): void {
  runSync(['python3', '-c', MAKE, folder, name, version]);
}
