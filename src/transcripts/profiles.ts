import { type ProfileId, PROFILES } from "../wire/profiles.ts";

/** The providers a session can be judged by. */
export const PROFILE_IDS = Object.keys(PROFILES) as readonly ProfileId[];
