/** A drawn chart as a picture that is understood alone: with its title, and the machine that it is from. */
const MARGIN = 16;
const TITLE_HEIGHT = 36;
const CAPTION_HEIGHT = 28;
/** For sharp letters on dense screens. */
const SCALE = 2;

/** Copies a chart to the clipboard as PNG. Rejects if the browser does not allow that. */
export async function copyPicture(svg: SVGElement, title: string, caption: string): Promise<void> {
  const { width, height } = svg.getBoundingClientRect();
  const size = { width: width + 2 * MARGIN, height: height + TITLE_HEIGHT + CAPTION_HEIGHT + MARGIN };
  const image = new Image(size.width * SCALE, size.height * SCALE);
  image.src = `data:image/svg+xml,${encodeURIComponent(frame(svg, size, { title, caption }))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext('2d')?.drawImage(image, 0, 0, image.width, image.height);
  const png = new Promise<Blob>((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error('the chart cannot be drawn')) : resolve(blob))),
  );
  await navigator.clipboard.write([new ClipboardItem({ 'image/png': png })]);
}

/** Returns the chart in a frame, with the colours and letters of the page. */
function frame(
  svg: SVGElement,
  { width, height }: { width: number; height: number },
  { title, caption }: { title: string; caption: string },
): string {
  const style = getComputedStyle(document.documentElement);
  const colours = [...svg.outerHTML.matchAll(/var\((--[\w-]+)\)/g)].map(([, name = '']) => name);
  const names = [...new Set([...colours, '--page', '--text', '--faint'])];
  const outer = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  outer.setAttribute('viewBox', `0 0 ${width} ${height}`);
  outer.setAttribute('width', String(width * SCALE));
  outer.setAttribute('height', String(height * SCALE));
  outer.setAttribute(
    'style',
    `color: ${colourOf('--text', style)}; background: ${colourOf('--page', style)}; font: 13px ${getComputedStyle(document.body).fontFamily}; ${names.map((name) => `${name}: ${colourOf(name, style)}`).join('; ')}`,
  );
  const inner = svg.cloneNode(true) as SVGElement;
  inner.setAttribute('x', String(MARGIN));
  inner.setAttribute('y', String(TITLE_HEIGHT));
  const write = (text: string, y: number, looks: string): Element => {
    const made = document.createElementNS('http://www.w3.org/2000/svg', 'text');
    made.textContent = text;
    made.setAttribute('x', String(MARGIN));
    made.setAttribute('y', String(y));
    made.setAttribute('style', looks);
    return made;
  };
  outer.append(
    write(title, TITLE_HEIGHT - MARGIN / 2, 'font-size: 18px; font-weight: 600; fill: var(--text)'),
    inner,
    write(caption, height - MARGIN, 'fill: var(--faint)'),
  );
  return new XMLSerializer().serializeToString(outer);
}

/** The colour that a variable of the page has now: a picture has neither a dark mode nor the style of the page. */
function colourOf(name: string, style: CSSStyleDeclaration): string {
  const probe = document.createElement('span');
  probe.style.color = style.getPropertyValue(name);
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
