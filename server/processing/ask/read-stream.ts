/** Reads the objects of the one list in a JSON object while it arrives. */
export interface StatementReader {
  /** @returns the objects that this part completes. */
  read(delta: string): unknown[];
  /** How many objects have begun, so far. */
  readonly begun: number;
}

/**
 * Reads `{"statements": [{…}, {…}]}` part by part, each character once. Reasoning before it is skipped, and so is anything
 * else around the list. What is no JSON counts as an object that is undefined.
 */
export function readStatements(): StatementReader {
  const start = findStart();
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  let object: string[] | null = null;
  let begun = 0;

  function take(char: string): unknown[] {
    object?.push(char);
    if (isString) {
      if (isEscaped) isEscaped = false;
      else if (char === "\\") isEscaped = true;
      else if (char === '"') isString = false;
      return [];
    }
    if (char === '"') isString = true;
    else if (char === "{" || char === "[") {
      // The object, its list, and an object in the list.
      if (char === "{" && depth === 2) {
        object = [char];
        begun += 1;
      }
      depth += 1;
    } else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 2 && object !== null) {
        const text = object.join("");
        object = null;
        return [parse(text)];
      }
    }
    return [];
  }

  return {
    read(delta) {
      return [...start(delta)].flatMap(take);
    },
    get begun() {
      return begun;
    },
  };
}

/** @returns a function that drops what comes before the response's object: reasoning, and other text. */
function findStart(): (delta: string) => string {
  let state: "before" | "reasoning" | "seeking" | "started" = "before";
  let kept = "";
  let closing = "";
  return (delta) => {
    if (state === "started") return delta;
    kept += delta;
    if (state === "before") {
      const text = kept.trimStart();
      // It may still become the tag.
      if (text === "" || (/^<[a-z]*$/i.test(text) && text.length < maxTagLength)) return "";
      const tag = /^<(think|thinking|reasoning)>/i.exec(text)?.[1];
      state = tag === undefined ? "seeking" : "reasoning";
      closing = `</${tag?.toLowerCase()}>`;
    }
    if (state === "reasoning") {
      const end = kept.toLowerCase().indexOf(closing);
      kept = end < 0 ? kept.slice(-maxTagLength) : kept.slice(end + closing.length);
      if (end < 0) return "";
      state = "seeking";
    }
    const start = kept.indexOf("{");
    const rest = start < 0 ? "" : kept.slice(start);
    kept = "";
    if (start >= 0) state = "started";
    return rest;
  };
}

/** Characters of the longest tag around reasoning. */
const maxTagLength = 13;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
