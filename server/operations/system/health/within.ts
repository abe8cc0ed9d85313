/**
 * Waits for work that can't be aborted.
 * @throws Error with the given message when it takes longer; the work's own error when it fails earlier.
 */
export async function within<T>(ms: number, message: string, work: () => Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(message)), ms);
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
