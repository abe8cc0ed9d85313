/**
 * Whether this run takes the time for many more random inputs, and for whole files that the others leave out (test/run.ts):
 * `npm run test:full`. Of the random inputs the others take the first, which differ from each other the most.
 */
export const isFullRun = process.env.TEST_FULL !== undefined;
