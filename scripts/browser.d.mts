/** The Chromium there is: the one that is named in `HANDRAISE_CHROMIUM`, or one on the path. */
export function findChromium(env?: NodeJS.ProcessEnv): string | undefined
