import { existsSync } from "node:fs";
import { here } from "./here.ts";

const USUAL = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
const found = new Map<string, string>();

/** Where a program of the system lies. Found by our own path: a command may be given another, or none. */
export function programAt(name: string): string {
  const known = found.get(name);
  if (known !== undefined) return known;
  const folders = [...(here.env["PATH"] ?? "").split(":").filter((folder) => folder.startsWith("/")), ...USUAL];
  const place = folders.map((folder) => `${folder}/${name}`).find((path) => existsSync(path)) ?? name;
  found.set(name, place);
  return place;
}
