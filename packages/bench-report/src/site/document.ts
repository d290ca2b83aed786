/** The index over stored runs as one HTML file. */
import { renderDocument, type Assets } from '../html/document.ts';
import type { Site } from './data.ts';

const TITLE = 'Bench results';

/** Renders the index as an HTML document that loads nothing. */
export function renderSite(site: Site, assets: Assets): string {
  return renderDocument(site, { title: TITLE, ...assets });
}

/** Returns true if a document is an index that `renderSite` made. */
export function isSite(document: string): boolean {
  return document.includes(`<title>${TITLE}</title>`) && document.includes('id="data"');
}
