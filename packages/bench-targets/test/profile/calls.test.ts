import { expect, it } from 'vitest';
import { parseCalls } from '../../src/profile/calls.ts';

it('system calls are counted by kind', () => {
  const text = `    calls syscall
--------- ----------------
     2002 write
        2 sendto
       12 recvfrom
        7 epoll_pwait2
        3 poll
        1 accept4
        5 futex
       80 sched_yield
--------- ----------------
     2112 total
`;
  expect(parseCalls(text)).toEqual({ all: 2112, writes: 2004 });
});
