/** The level that a channel reaches in its loudest two seconds is its loudness, unless that is only noise. */
const loudFrames = 20;
/** -50 dB of full scale, and 20 dB below the loudest channel: quieter channels are compared as if they were this loud. */
const minLoudness = 0.003;
const minShareOfLoudest = 0.1;
/** A frame within 14 dB of the loudness of its channel has speech. */
const speechRatio = 0.2;
/** A voice has a channel to itself where all others are 14 dB quieter. Two microphones in a room differ by less. */
const aloneRatio = 0.2;
/** How many of the frames with speech must have one channel alone; the rest are people who speak at the same time. */
const minAloneShare = 2 / 3;
/** At least two channels must be alone for a second each. */
const minAloneFrames = 10;
/** Sound 20 dB below that of another channel is that channel's voice, leaked or compressed into this one. */
const leakRatio = 0.1;
/** Soft beginnings and ends of words, 200 ms, belong to the voice beside them. */
const edgeFrames = 2;

/**
 * Decides whether the channels of a recording carry a voice each, as in recorded calls, by comparing their levels frame by
 * frame: each relative to the loudness of its channel, so that a quiet caller counts as much as a loud one. Waveforms are
 * not compared, since the two channels of a stereo microphone differ in them too.
 * @param energies root mean square of each 100 ms, for each channel; all of the same length.
 * @returns for each channel which frames have its own sound, as 1; null: the channels are a mix, such as stereo.
 */
export function separateChannels(energies: readonly (readonly number[])[]): Uint8Array[] | null {
  if (energies.length < 2) return null;
  const levels = relativeLevels(energies);
  return areSeparate(levels) ? levels.map((_, channel) => ownFrames(levels, channel)) : null;
}

/** Levels relative to the loudness of their channel. */
function relativeLevels(energies: readonly (readonly number[])[]): Float64Array[] {
  const loudness = energies.map((channel) => {
    const sorted = Float64Array.from(channel).sort();
    return sorted[sorted.length - Math.ceil(Math.min(loudFrames, sorted.length / 10))] ?? 0;
  });
  const least = Math.max(minLoudness, Math.max(...loudness) * minShareOfLoudest);
  return energies.map((channel, index) => {
    const loud = Math.max(loudness[index] ?? 0, least);
    return Float64Array.from(channel, (energy) => energy / loud);
  });
}

function areSeparate(levels: readonly Float64Array[]): boolean {
  const alone = levels.map(() => 0);
  let spoken = 0;
  for (let frame = 0; frame < (levels[0]?.length ?? 0); frame++) {
    let loudest = 0;
    for (let channel = 1; channel < levels.length; channel++)
      if (levelAt(levels, channel, frame) > levelAt(levels, loudest, frame)) loudest = channel;
    const level = levelAt(levels, loudest, frame);
    if (level < speechRatio) continue;
    spoken += 1;
    if (loudestOther(levels, loudest, frame) <= level * aloneRatio)
      alone[loudest] = (alone[loudest] ?? 0) + 1;
  }
  const total = alone.reduce((sum, frames) => sum + frames, 0);
  return alone.filter((frames) => frames >= minAloneFrames).length >= 2 && total >= spoken * minAloneShare;
}

function ownFrames(levels: readonly Float64Array[], channel: number): Uint8Array {
  const own = new Uint8Array(levels[channel]?.length ?? 0);
  for (let frame = 0; frame < own.length; frame++) {
    let level = 0;
    for (let at = frame - edgeFrames; at <= frame + edgeFrames; at++)
      level = Math.max(level, levelAt(levels, channel, at));
    own[frame] = level > loudestOther(levels, channel, frame) * leakRatio ? 1 : 0;
  }
  return own;
}

function loudestOther(levels: readonly Float64Array[], channel: number, frame: number): number {
  let loudest = 0;
  for (let other = 0; other < levels.length; other++)
    if (other !== channel) loudest = Math.max(loudest, levelAt(levels, other, frame));
  return loudest;
}

function levelAt(levels: readonly Float64Array[], channel: number, frame: number): number {
  return levels[channel]?.[frame] ?? 0;
}

/** Channels cancel each other where their mix has less than a fifth of the power that unrelated sounds would have in it. */
const cancelledShare = 0.2;
/** A second around each frame: single frames may cancel by chance. */
const windowFrames = 5;

/**
 * Finds where opposite channels cancel each other in their mix, as where a cable or a plug-in has inverted one of them.
 * @param mix root mean square of each 100 ms of the mix, and of each channel.
 * @returns which frames of the mix are to be replaced, as 1, and by which channel; null: by none.
 */
export function findCancelled(
  mix: readonly number[],
  channels: readonly (readonly number[])[],
): { readonly frames: Uint8Array; readonly channel: number } | null {
  if (channels.length < 2) return null;
  const mixed = windowPower(mix);
  const powers = channels.map(windowPower);
  const frames = new Uint8Array(mix.length);
  const totals = channels.map(() => 0);
  for (let frame = 0; frame < mix.length; frame++) {
    let sum = 0;
    for (const power of powers) sum += power[frame] ?? 0;
    const unrelated = sum / channels.length ** 2;
    if (sum === 0 || (mixed[frame] ?? 0) >= unrelated * cancelledShare) continue;
    frames[frame] = 1;
    for (const [channel, power] of powers.entries())
      totals[channel] = (totals[channel] ?? 0) + (power[frame] ?? 0);
  }
  const loudest = totals.indexOf(Math.max(...totals));
  return frames.includes(1) ? { frames, channel: loudest } : null;
}

/** The power around each frame. */
function windowPower(levels: readonly number[]): Float64Array {
  const sums = new Float64Array(levels.length + 1);
  for (const [frame, level] of levels.entries()) sums[frame + 1] = (sums[frame] ?? 0) + level * level;
  return Float64Array.from(levels, (_, frame) => {
    const start = Math.max(0, frame - windowFrames);
    const end = Math.min(levels.length, frame + windowFrames + 1);
    return Math.max(0, (sums[end] ?? 0) - (sums[start] ?? 0)) / (end - start);
  });
}
