import { describe, expect, it } from 'vitest';
import { findTool, runBuild } from '../../src/prepare/builds.ts';

const folder = import.meta.dirname;

describe('runBuild', () => {
  it('reports the last lines of a failed build without a known error, without local paths', async () => {
    const script = 'seq 30; echo "/root/go/pkg/a: no such thing at https://proxy.test/a" >&2; exit 1';
    const error = await runBuild(['sh', '-c', script], { root: folder, bins: [] }, 'api/two').catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: 'toolchain',
      hint: expect.stringMatching(/^try it by hand: sh -c '/),
    });
    const [first, ...log] = (error as Error).message.split('\n');
    expect(first).toBe('api/two could not be built:');
    expect(log).toHaveLength(12);
    expect(log.slice(-2)).toEqual(['30', '…/a: no such thing at …']);
  });
});

describe('findTool', () => {
  it('asks a tool for its version', async () => {
    expect((await findTool('node', folder, 'here')).name).toMatch(/^node \d+\.\d+\.\d+$/);
  });

  it('accepts a tool without a version', async () => {
    expect(await findTool('test', folder, 'here')).toEqual({ name: 'test', text: '' });
  });

  it('reports a missing tool, why it is needed, and how to install it', async () => {
    await expect(findTool('no-such-tool', folder, 'to build api')).rejects.toMatchObject({
      code: 'toolchain',
      message: 'no-such-tool is not on PATH, but needed to build api',
      hint: 'install no-such-tool, and put it on PATH',
    });
  });
});
