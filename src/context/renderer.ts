/** Changes when the same page and level could give other bytes: a resumed view is then chosen anew, and says so. */
export const RENDERER = "holdfast-2";
