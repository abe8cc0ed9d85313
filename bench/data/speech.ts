/** Speech that has the statistics of speech: few words are most of it, and thousands come rarely. */

/** The hundred commonest words of English, the commonest first. */
const commonest =
  "the be to of and a in that have i it for not on with he as you do at this but his by from they we say her she or an will my one all would there their what so up out if about who get which go me when make can like time no just him know take people into year your good some could them see other than then now look only come its over think also back after use two how our work first well way even new want because any these give day most us".split(
    " ",
  );

const syllables =
  "ba be bi bo bu ca ce co da de di do fa fe fi ga go ha he hi ja ka la le li lo ma me mi mo na ne no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi za zo tra pre con der sta".split(
    " ",
  );
const endings = ["", "", "s", "ing", "ed", "er", "ation", "ly", "ment", "es"];
const vocabularySize = 20_000;

export interface Speech {
  /** The nth commonest word, from 0. */
  readonly words: readonly string[];
  /** The next sentence. */
  sentence(): string;
  /** The next number below a limit. */
  below(limit: number): number;
}

/** The same speech for the same seed. */
export function makeSpeech(seed: number): Speech {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const pick = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? "";
  const words = [...commonest];
  const known = new Set(words);
  while (words.length < vocabularySize) {
    const word =
      Array.from({ length: 2 + Math.floor(next() * 3) }, () => pick(syllables)).join("") + pick(endings);
    if (!known.has(word)) words.push(word);
    known.add(word);
  }
  // Zipf's law, with Mandelbrot's correction for the very commonest.
  const sums: number[] = [];
  let sum = 0;
  for (const index of words.keys()) {
    sum += 1 / (index + 2.7);
    sums.push(sum);
  }
  const word = (): string => {
    const wanted = next() * sum;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low] ?? "";
  };
  return {
    words,
    sentence() {
      const text = Array.from({ length: 10 + Math.floor(next() * 10) }, word).join(" ");
      return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
    },
    below: (limit) => Math.floor(next() * limit),
  };
}
