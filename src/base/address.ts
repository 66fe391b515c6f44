/** Whether it is an address that `fetch` can ask. */
export function isWebAddress(address: string): boolean {
  const protocol = URL.parse(address)?.protocol;
  return protocol === "http:" || protocol === "https:";
}

/** Whether an address names a user or a password: `fetch` refuses it, and whoever quotes it gives them away. */
export function hasCredentials(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.username !== "" || url.password !== "");
}

/** An address as it may be quoted, also one that is none: whatever may be a user or a password is left out. */
export function withoutCredentials(address: string): string {
  return address.replace(/^.*@/s, "[hidden]@");
}
