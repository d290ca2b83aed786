const format = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });

export const showPrice = (cents) => format.format(cents / 100);
