export const showPrice = (cents) => `${(cents / 100).toFixed(2)} EUR`;
