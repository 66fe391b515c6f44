import type { HostPort } from "./port.ts";

const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i;
const FORBIDDEN = /[<>:"|?*\\]/;
const FIRST_PRINTABLE = 0x20;

/** Why a name cannot be made on a system, or nothing. A name that means a device, or comes out changed, is no file's. */
export function nameFault(names: readonly string[], platform: HostPort["platform"]): string | undefined {
  if (platform !== "win32") return undefined;
  for (const name of names) {
    if (RESERVED.test(name)) return `${name} is a device on this system`;
    if (FORBIDDEN.test(name) || Array.from(name).some((letter) => (letter.codePointAt(0) ?? 0) < FIRST_PRINTABLE))
      return `${JSON.stringify(name)} has a letter that this system does not allow`;
    if (/[. ]$/.test(name)) return `${JSON.stringify(name)} ends in a dot or a space, which this system drops`;
  }
  return undefined;
}
