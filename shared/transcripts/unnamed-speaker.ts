/**
 * Whether a name only numbers a speaker whom a program doesn't know: "Speaker 1", "Unknown Speaker 2", "SPEAKER_00",
 * "Speaker A", "Unknown", or none at all.
 */
export function isUnnamedSpeaker(name: string): boolean {
  return /^(?:unknown|(?:unknown )?speaker(?:[ _-]?(?:\d{1,6}|[a-z]))?)?$/i.test(name.trim());
}

/** Whether it doesn't even number the speaker, so that several may have it. */
export function isSharedByUnnamed(name: string): boolean {
  return /^(?:unknown|(?:unknown )?speaker)?$/i.test(name.trim());
}
