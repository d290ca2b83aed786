/** The price of an order, in cents. */
export function priceOf({ lines }) {
  return lines.reduce((sum, { count, cents }) => sum + count * cents, 0);
}
