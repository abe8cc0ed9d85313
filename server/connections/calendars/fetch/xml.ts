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

/** Reads XML that another server wrote. Entities that it declares are not expanded. @throws Error */
export function readXml(text: string): Element {
  const root: Element = { name: "", children: [], text: "" };
  const open = [root];
  let count = 0;
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
  parser.write(text).close();
  return root;
}

/** All elements of this name within one. */
export function findAll({ children }: Element, name: string): Element[] {
  return children.flatMap((child) => [...(child.name === name ? [child] : []), ...findAll(child, name)]);
}

export function findFirst(element: Element, name: string): Element | undefined {
  return findAll(element, name)[0];
}
