import { setImmediate } from "node:timers/promises";
import { SaxesParser } from "saxes";

/**
 * An element of a response, with the elements and the text in it. Names are without their prefix; the text begins with the attribute
 * `name`, as that of `comp`.
 */
export interface Element {
  readonly name: string;
  readonly children: Element[];
  text: string;
}

const maxElements = 200_000;
const maxDepth = 50;
const maxAttributes = 50;
/** Characters that are parsed at a time, between which the server does other work. */
const chunkLength = 64 * 1024;

/** Reads XML that another server wrote. Entities that it declares are not expanded. @throws Error */
export async function readXml(text: string, signal: AbortSignal): Promise<Element> {
  const root: Element = { name: "", children: [], text: "" };
  const open = [root];
  let count = 0;
  let attributeCount = 0;
  const parser = new SaxesParser({ xmlns: true });
  const append = (more: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += more;
  };
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("doctype", () => {
    throw new Error("the response has a document type");
  });
  parser.on("opentagstart", () => {
    attributeCount = 0;
  });
  parser.on("attribute", () => {
    attributeCount += 1;
    if (attributeCount > maxAttributes) throw new Error("an element of the response has too many attributes");
  });
  parser.on("opentag", ({ local, attributes }) => {
    count += 1;
    if (count > maxElements || open.length > maxDepth) throw new Error("the response has too many elements");
    const element: Element = { name: local, children: [], text: attributes.name?.value ?? "" };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", () => {
    open.pop();
  });
  for (let at = 0; at < text.length; at += chunkLength) {
    parser.write(text.slice(at, at + chunkLength));
    await setImmediate();
    signal.throwIfAborted();
  }
  parser.close();
  return root;
}

/** All elements of this name within one, without those within each other. */
export function findAll({ children }: Element, name: string, found: Element[] = []): Element[] {
  for (const child of children)
    if (child.name === name) found.push(child);
    else findAll(child, name, found);
  return found;
}

export function findFirst(element: Element, name: string): Element | undefined {
  return findAll(element, name)[0];
}
