import { it } from 'vitest';
import { accountOf, openRig, type Order } from './rig.ts';
const rig = openRig();
const SF = ['--sound-first', '3'];
const cases: [string, Order][] = [
  ['steady', { planted: SF, bench: ['--connections','10','--amount','1000'] }],
  ['500', { planted: [...SF,'--status-500-every','100'], bench: ['--connections','10','--amount','1000'] }],
  ['reset', { planted: [...SF,'--reset-every','100'], bench: ['--connections','10','--amount','1000'] }],
  ['closeearly', { planted: [...SF,'--close-early-every','100'], bench: ['--connections','10','--amount','1000'] }],
  ['close', { planted: [...SF,'--close-after-response', '--delay-ms','20'], bench: ['--connections','10','--amount','300'] }],
  ['silent', { planted: [...SF,'--close-silently', '--delay-ms','20'], bench: ['--connections','10','--amount','300'] }],
  ['http10', { planted: [...SF,'--http10', '--delay-ms','20'], bench: ['--connections','10','--amount','300'] }],
  ['acceptclose', { planted: [...SF,'--accept-and-close'], bench: ['--connections','10','--duration','0.5'], plan: {barrierSeconds: 0.5} }],
  ['stallquiet', { planted: [...SF,'--stall-at','200','--stall-ms','1000','--stall-quietly'], bench: ['--connections','10','--amount','500','--timeout','0.4'] }],
  ['never', { planted: [...SF,'--delay-ms','700'], bench: ['--connections','10','--duration','0.8','--timeout','0.3'], plan: {barrierSeconds: 0.5} }],
  ['stall', { planted: [...SF,'--stall-at','500','--stall-ms','1000'], bench: ['--connections','40','--amount','2000'] }],
  ['resets5', { planted: [...SF,'--reset-every','5', '--delay-ms','5'], bench: ['--connections','20','--amount','1400'] }],
  ['delay5', { planted: [...SF,'--delay-ms','5'], bench: ['--connections','20','--duration','0.5'] }],
  ['gens', { planted: [...SF], bench: ['--connections','10','--duration','1.5','--generators','4'] }],
  ['dies', { planted: [...SF,'--die-after-requests','300'], bench: ['--connections','10','--duration','1'] }],
  ['killed', { planted: [...SF,'--die-after-requests','300','--die-signal','SIGKILL'], bench: ['--connections','10','--duration','1'] }],
  ['late', { planted: [...SF,'--bind-after-ms','800'], bench: ['--connections','10','--amount','100'] }],
  ['nobind', { planted: [...SF,'--never-bind'], bench: ['--connections','10','--amount','100'], plan: {startSeconds: 1} }],
];
for (const [name, order] of cases) it(name, async () => {
  const t = performance.now();
  const seen = await rig.measure(order);
  const { trial } = seen;
  const load = trial.status === 'failed' ? trial.partial?.load : trial.measured.load;
  let account; try { account = accountOf(seen); } catch (e) { account = undefined; }
  console.log(name, Math.round(performance.now() - t), trial.status, JSON.stringify(trial.reasons.map(r => [r.code, r.text])),
   '\n', JSON.stringify(load?.connect), '\nwindow  ', JSON.stringify(load?.counts), '\nlifetime', JSON.stringify(load?.lifetime), '\nserver  ', JSON.stringify(account?.requests), JSON.stringify(account?.connections), '\n', JSON.stringify(load?.latencyUs), JSON.stringify(account?.latencyUs), load?.printedByAutocannon, load?.generators.length, JSON.stringify(trial.time?.exitStatus), trial.time?.terminatedBySignal, trial.status==='failed' ? trial.logTail?.map(l=>l.slice(0,60)) : '');
});
