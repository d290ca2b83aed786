/** The HTML report: one file that needs no network. */
import { createHash } from 'node:crypto';
import { redact } from 'bench-machine/redact';
import type { WhyFile } from 'bench-model/why';
import type { Model } from '../model/definition.ts';
import { toPrintable } from '../printable.ts';
import { toPage } from './data.ts';

/** The parts of the page that do not depend on a run. */
export interface Assets {
  script: string;
  style: string;
}

/** Characters that end a script element, or that older JavaScript takes for the end of a line. */
const UNSAFE = /[<>&\u2028\u2029]/g;

/** Renders a model with distributions, and the profiles of its run, as an HTML document that loads nothing and runs only the given script. */
export function renderHtml(model: Model, { script, style }: Assets, why?: WhyFile): string {
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    // The charts set inline styles.
    "style-src 'unsafe-inline'",
    // The picture that is copied.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Bench report</title>
<style>
${style}</style>
</head>
<body>
<noscript>This page needs JavaScript. It loads nothing from a network.</noscript>
<script type="application/json" id="data">${embed(toPage(model, why))}</script>
<script>${script}</script>
</body>
</html>
`;
}

/**
 * Returns a value as JSON that is safe inside a script element. Secrets are redacted, control characters are written
 * out, and fractions have nine digits.
 */
export function embed(value: unknown): string {
  const text = JSON.stringify(redact(value), (_, one: unknown) => {
    if (typeof one === 'string') return toPrintable(one);
    return typeof one === 'number' && !Number.isInteger(one) ? Number(one.toPrecision(9)) : one;
  });
  return text.replaceAll(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
