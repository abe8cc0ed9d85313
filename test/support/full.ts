/**
 * Whether this run takes the time for many more random inputs: `npm run test:full`. The others take the first of them,
 * which differ from each other the most.
 */
export const isFullRun = process.env.TEST_FULL !== undefined;
