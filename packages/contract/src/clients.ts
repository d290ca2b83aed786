/** The npm packages that this process connects with. They are attested. */
export const loaded = new Set<string>();
