/** An index of reports: a card for each, with the first screen of its page as the picture. */
import { toPrintable } from '../printable.ts';
import type { Model } from '../model/definition.ts';
import { toPage } from './data.ts';

interface Entry {
  file: string;
  model: Model;
}

/** The window of a picture, which is shown smaller. */
const SCREEN = { width: 1140, height: 720, scale: 0.31 };

const STYLE = `
ul.site { display: grid; grid-template-columns: repeat(auto-fill, ${SCREEN.width * SCREEN.scale}px); gap: 24px; padding: 0; list-style: none; }
ul.site h2 { font-size: 15px; line-height: 1.35; margin: 8px 0 0; }
ul.site div { width: ${SCREEN.width * SCREEN.scale}px; height: ${SCREEN.height * SCREEN.scale}px; overflow: hidden; border: 1px solid var(--line); border-radius: 6px; }
ul.site iframe { width: ${SCREEN.width}px; height: ${SCREEN.height}px; border: 0; transform: scale(${SCREEN.scale}); transform-origin: 0 0; pointer-events: none; }
`;

/** Renders the index as an HTML document that loads nothing but the reports, the newest first. */
export function renderSite(entries: readonly Entry[], style: string): string {
  const sorted = entries.toSorted((a, b) => (a.model.run < b.model.run ? 1 : -1));
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; frame-src *">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Bench reports</title>
<style>${style}${STYLE}</style>
<main>
<h1>Reports</h1>
<ul class="site">
${sorted.map(renderCard).join('\n')}
</ul>
</main>
</html>
`;
}

function renderCard({ file, model }: Entry): string {
  const { title, machine, startedAt = '', outcome, verdict } = toPage(model);
  const heading = verdict?.heading ?? outcome;
  return `<li><div><iframe src="${escape(file)}" loading="lazy" title="${escape(title)}" tabindex="-1"></iframe></div>
<h2><a href="${escape(file)}">${escape(heading)}</a></h2>
<p class="key">${escape(`${title}. ${startedAt.slice(0, 10)}, ${machine}.`)}</p></li>`;
}

function escape(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return toPrintable(text).replaceAll(/[&<>"]/g, (character) => names[character] ?? character);
}
