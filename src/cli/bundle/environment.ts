import { version } from "../version.ts";

/** What a bundle tells of where the session ran. */
export function environment(durability: string) {
  const { node, v8, sqlite = null } = process.versions;
  return { holdfast: version(), node, v8, sqlite, platform: process.platform, arch: process.arch, durability };
}
