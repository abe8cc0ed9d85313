import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { parseSync } from "vite";
import { root, type Source } from "./sources.ts";

/** A call `query<Row>(text)` in product code. */
export interface Statement {
  /** `server/people/oauth/sweep.ts:12`. */
  readonly place: string;
  /** Each text that it can have; null: it is put together when it runs. */
  readonly texts: readonly string[] | null;
  /** null: the type's columns are not written in the code, such as those of a type parameter. */
  readonly columns: ReadonlyMap<string, Column> | null;
}

/** A column that the code expects. */
interface Column {
  readonly isOptional: boolean;
  /** The kinds of its values without null, as in `kindsOf`; null: of any kind. */
  readonly kinds: readonly string[] | null;
}

/** A node of the syntax tree, with the fields that are read here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly value?: unknown;
  readonly [field: string]: unknown;
}

interface File {
  readonly path: string;
  readonly program: Node;
  /** Constants and functions at any place of the file; null: there are two of the name. */
  readonly constants: ReadonlyMap<string, Node | null>;
  /** Parameters of functions, and variables of loops over what they return, that are parts of statements. */
  readonly fragments: ReadonlySet<string>;
  readonly types: ReadonlyMap<string, Node>;
  /** Where an imported name is declared. */
  readonly imports: ReadonlyMap<string, { readonly path: string; readonly name: string }>;
}

const files = new Map<string, File>();

/** Every call `query<Row>(…)` of a source. */
export function readStatements(source: Source): Statement[] {
  if (!/\bquery<|\bsql</.test(source.text)) return [];
  const file = openFile(source.path, source.text);
  return nodesOf(file.program).flatMap((node) => {
    const { callee } = node;
    if (node.type !== "CallExpression" || !isNode(callee) || callee.type !== "MemberExpression") return [];
    const method = isNode(callee.property) ? callee.property.name : undefined;
    const statement = method === "query" ? listOf(node.arguments)[0] : callee.object;
    if ((method !== "query" && method !== "execute") || !isNode(statement)) return [];
    const { typeArguments } = method === "query" ? node : statement;
    const [row] = isNode(typeArguments) ? listOf(typeArguments.params) : [];
    if (row === undefined) return [];
    const line = source.text.slice(0, node.start).split("\n").length;
    const texts = textsOf({ node: statement, file, values: new Map() })?.map(numbered) ?? null;
    return [{ place: `${source.path}:${line}`, texts, columns: columnsOf(row, file) }];
  });
}

function numbered(text: string): string {
  const [first = "", ...others] = text.split(parameter);
  return others.reduce((all, part, index) => `${all}$${index + 1}${part}`, first);
}

function openFile(path: string, text = readFileSync(join(root, path), "utf8")): File {
  const known = files.get(path);
  if (known !== undefined) return known;
  const program: unknown = parseSync(path, text).program;
  if (!isNode(program)) throw new TypeError(`${path} can't be parsed`);
  const nodes = nodesOf(program);
  const fragments = new Set<string>();
  const file = {
    path,
    program,
    constants: readConstants(nodes),
    fragments,
    types: new Map(
      nodes.flatMap((node) =>
        /^TS(Interface|TypeAlias)Declaration$/.test(node.type)
          ? [[nameOf(node.id) ?? "", node] as const]
          : [],
      ),
    ),
    imports: readImports(path, nodes),
  };
  files.set(path, file);
  for (const name of readFragments(file, nodes, text)) fragments.add(name);
  return file;
}

function readConstants(nodes: readonly Node[]): Map<string, Node | null> {
  const constants = new Map<string, Node | null>();
  for (const node of nodes) {
    const name = nameOf(node.id);
    if (name === undefined || !/^(VariableDeclarator|FunctionDeclaration)$/.test(node.type)) continue;
    const meaning = node.type === "FunctionDeclaration" ? node : node.init;
    constants.set(name, isNode(meaning) && !constants.has(name) ? meaning : null);
  }
  return constants;
}

function readImports(path: string, nodes: readonly Node[]): Map<string, { path: string; name: string }> {
  const imports = new Map<string, { path: string; name: string }>();
  for (const { type, source, specifiers } of nodes) {
    if (type !== "ImportDeclaration" || !isNode(source)) continue;
    const from = String(source.value);
    if (!from.startsWith(".")) continue;
    for (const { local, imported } of listOf(specifiers)) {
      const [here, there] = [nameOf(local), nameOf(imported)];
      if (here !== undefined && there !== undefined)
        imports.set(here, { path: normalize(join(dirname(path), from)), name: there });
    }
  }
  return imports;
}

/** Where a name has both meanings, it is read as a value: PostgreSQL then refuses a statement in which it is not. */
function readFragments(file: File, nodes: readonly Node[], text: string): Set<string> {
  const fragments = new Set<string>();
  const values = new Set<string>();
  for (const node of nodes) {
    if (node.type === "Identifier" && node.name !== undefined && isNode(node.typeAnnotation))
      (/\bRawBuilder\b/.test(text.slice(node.start, node.end)) ? fragments : values).add(node.name);
    if (node.type !== "ForOfStatement" || !isNode(node.left) || !isNode(node.right)) continue;
    const name = nameOf(listOf(node.left.declarations)[0]?.id);
    if (name !== undefined && isFragment({ node: node.right, file, values: new Map() })) fragments.add(name);
  }
  return fragments.difference(values);
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) ? node.name : undefined;
}

/** What a name of a file means, there or in the file that it is imported from. */
function lookUp(
  name: string,
  file: File,
  kind: "constants" | "types",
): { readonly node: Node; readonly file: File } | null {
  const node = file[kind].get(name);
  if (node !== undefined) return node === null ? null : { node, file };
  const imported = file.imports.get(name);
  if (imported === undefined || !existsSync(join(root, imported.path))) return null;
  return lookUp(imported.name, openFile(imported.path), kind);
}

/** A node and what the names within it mean. */
interface Place {
  readonly node: Node;
  readonly file: File;
  /** What a call hands to the function around the node. */
  readonly values: ReadonlyMap<string, Place>;
}

/** More variants of one text are not compared. */
const maxVariants = 16;

/** The texts that a statement can have; null: it depends on more than conditions. */
function textsOf(place: Place): readonly string[] | null {
  const { node, ...around } = place;
  const textsIn = (child: unknown): readonly string[] | null =>
    isNode(child) ? textsOf({ node: child, ...around }) : null;
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" || typeof node.value === "number" ? [String(node.value)] : null;
    case "TemplateLiteral": {
      const quasis = listOf(node.quasis).map(({ value }) => [(value as { cooked: string }).cooked]);
      const inserted = listOf(node.expressions).map(textsIn);
      return inTurn(
        quasis.flatMap((quasi, index) => (index === 0 ? [quasi] : [inserted[index - 1] ?? null, quasi])),
      );
    }
    case "BinaryExpression":
      return node.operator === "+" ? inTurn([textsIn(node.left), textsIn(node.right)]) : null;
    case "ConditionalExpression": {
      const [one, other] = [textsIn(node.consequent), textsIn(node.alternate)];
      return one === null || other === null ? null : [...one, ...other];
    }
    case "TaggedTemplateExpression":
      return sqlTextsOf(place);
    case "TSAsExpression":
    case "TSSatisfiesExpression":
      return textsIn(node.expression);
    case "ObjectExpression":
      return textsIn(propertyOf(node, "text"));
    default: {
      const found = meaningOf(place);
      return found === null ? null : textsOf(found);
    }
  }
}

/** Stands for a value that is sent beside the text, until it has its number. */
const parameter = "\uFFFC";

/** The texts of Kysely's sql`…`, in which other sql`…` is inserted and everything else is a value. */
function sqlTextsOf({ node, ...around }: Place): readonly string[] | null {
  if (!isSql(node) || !isNode(node.quasi)) return null;
  const quasis = listOf(node.quasi.quasis).map(({ value }) => [(value as { cooked: string }).cooked]);
  const inserted = listOf(node.quasi.expressions).map((each) => insertedTextsOf({ node: each, ...around }));
  return inTurn(
    quasis.flatMap((quasi, index) => (index === 0 ? [quasi] : [inserted[index - 1] ?? null, quasi])),
  );
}

function insertedTextsOf(place: Place): readonly string[] | null {
  const { node, ...around } = place;
  if (node.type === "TaggedTemplateExpression") return sqlTextsOf(place);
  if (node.type === "ConditionalExpression") {
    const [one, other] = [node.consequent, node.alternate].map((each) =>
      isNode(each) ? insertedTextsOf({ node: each, ...around }) : null,
    );
    return one == null || other == null ? null : [...new Set([...one, ...other])];
  }
  if (node.type === "CallExpression" && isNode(node.callee) && node.callee.type === "MemberExpression") {
    const { object, property } = node.callee;
    if (isNode(object) && object.name === "sql") {
      const [raw] = listOf(node.arguments);
      return isNode(property) && property.name === "raw" && raw !== undefined
        ? textsOf({ node: raw, ...around })
        : null;
    }
  }
  const found = meaningOf(place);
  if (found !== null) return insertedTextsOf(found);
  return isFragment(place) ? null : [parameter];
}

/** Whether something is SQL that can't be read here: a parameter of that type, or what a function with SQL returns. */
function isFragment({ node, file, values }: Place): boolean {
  if (node.type === "Identifier") return file.fragments.has(node.name ?? "");
  if (node.type !== "CallExpression" || !isNode(node.callee)) return false;
  const called = meaningOf({ node: node.callee, file, values });
  return called !== null && nodesOf(called.node).some(isSql);
}

function isSql({ type, tag }: Node): boolean {
  return type === "TaggedTemplateExpression" && isNode(tag) && tag.name === "sql";
}

/** Every combination of these texts, one after another. */
function inTurn(parts: readonly (readonly string[] | null)[]): readonly string[] | null {
  return parts.reduce<readonly string[] | null>(
    (texts, part) => {
      if (texts === null || part === null || texts.length * part.length > maxVariants) return null;
      return texts.flatMap((text) => part.map((next) => text + next));
    },
    [""],
  );
}

/** What a name, a field of an object or the call of a function stands for. */
function meaningOf({ node, file, values }: Place): Place | null {
  if (node.type === "Identifier") {
    const found = lookUp(node.name ?? "", file, "constants");
    return values.get(node.name ?? "") ?? (found && { ...found, values: new Map() });
  }
  if (node.type === "MemberExpression" && node.computed === false) {
    const owner = isNode(node.object) ? meaningOf({ node: node.object, file, values }) : null;
    const name = isNode(node.property) ? (node.property.name ?? "") : "";
    const property = owner?.node.type === "ObjectExpression" ? propertyOf(owner.node, name) : undefined;
    return owner === null || property === undefined ? null : { ...owner, node: property };
  }
  if (node.type === "CallExpression" && isNode(node.callee) && node.callee.type === "Identifier") {
    const called = meaningOf({ node: node.callee, file, values });
    const body = called && returnedBy(called.node);
    if (called === null || body === null) return null;
    const handed = listOf(node.arguments).map((argument) => ({ node: argument, file, values }));
    const named = listOf(called.node.params).flatMap((parameter, index) => {
      const value = handed[index];
      return value === undefined || parameter.name === undefined ? [] : [[parameter.name, value] as const];
    });
    return { node: body, file: called.file, values: new Map([...called.values, ...named]) };
  }
  return null;
}

function propertyOf(node: Node, name: string): Node | undefined {
  const property = listOf(node.properties).find(({ key }) => isNode(key) && key.name === name);
  return isNode(property?.value) ? property.value : undefined;
}

/** The expression that a function returns, if that is all it does. */
function returnedBy({ type, body }: Node): Node | null {
  if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type) || !isNode(body))
    return null;
  if (body.type !== "BlockStatement") return body;
  const [statement, ...others] = listOf(body.body);
  if (statement?.type !== "ReturnStatement" || others.length > 0) return null;
  return isNode(statement.argument) ? statement.argument : null;
}

/** The columns of a row type; null: they are not written in the code. */
function columnsOf(node: Node, file: File): Map<string, Column> | null {
  switch (node.type) {
    case "TSTypeLiteral":
      return membersOf(node.members, file);
    case "TSIntersectionType":
      return joined(listOf(node.types).map((type) => columnsOf(type, file)));
    case "TSInterfaceDeclaration": {
      const body = isNode(node.body) ? node.body.body : [];
      const bases = listOf(node.extends).map(({ expression, typeArguments }) =>
        isNode(expression) ? referredColumns(expression.name, typeArguments, file) : null,
      );
      return joined([...bases, membersOf(body, file)]);
    }
    case "TSTypeAliasDeclaration":
      return isNode(node.typeAnnotation) ? columnsOf(node.typeAnnotation, file) : null;
    case "TSTypeReference": {
      const name = isNode(node.typeName) ? node.typeName.name : undefined;
      return referredColumns(name, node.typeArguments, file);
    }
    default:
      return null;
  }
}

function referredColumns(
  name: string | undefined,
  typeArguments: unknown,
  file: File,
): Map<string, Column> | null {
  if (isNode(typeArguments)) return utilityColumns(name, listOf(typeArguments.params), file);
  const found = lookUp(name ?? "", file, "types");
  return found === null ? null : columnsOf(found.node, found.file);
}

/** The columns of `Omit<Row, "id">` and the like. */
function utilityColumns(
  name: string | undefined,
  [type, names]: readonly Node[],
  file: File,
): Map<string, Column> | null {
  const columns = type === undefined ? null : columnsOf(type, file);
  if (columns === null || name === "Readonly" || name === "Selectable") return columns;
  if (names === undefined || (name !== "Omit" && name !== "Pick")) return null;
  const listed = new Set(
    nodesOf(names).flatMap(({ type: kind, value }) => (kind === "Literal" ? [String(value)] : [])),
  );
  return new Map([...columns].filter(([column]) => listed.has(column) === (name === "Pick")));
}

function joined(parts: readonly (Map<string, Column> | null)[]): Map<string, Column> | null {
  const known = parts.filter((part) => part !== null);
  return known.length < parts.length ? null : new Map(known.flatMap((part) => [...part]));
}

function membersOf(members: unknown, file: File): Map<string, Column> | null {
  const columns = new Map<string, Column>();
  for (const { type, key, optional, typeAnnotation } of listOf(members)) {
    if (type !== "TSPropertySignature" || !isNode(key)) return null;
    const annotation = isNode(typeAnnotation) ? typeAnnotation.typeAnnotation : undefined;
    columns.set(key.name ?? String(key.value), {
      isOptional: optional === true,
      kinds: isNode(annotation) ? kindsOf(annotation, file) : null,
    });
  }
  return columns;
}

/** `string`, `number`, `boolean`, `Date`, `Buffer`, `object` or `array`, without null; null: a value of any kind. */
function kindsOf(node: Node, file: File): string[] | null {
  switch (node.type) {
    case "TSStringKeyword":
    case "TSTemplateLiteralType":
      return ["string"];
    case "TSNumberKeyword":
      return ["number"];
    case "TSBooleanKeyword":
      return ["boolean"];
    case "TSNullKeyword":
    case "TSUndefinedKeyword":
      return [];
    case "TSLiteralType":
      return isNode(node.literal) ? [typeof node.literal.value] : null;
    case "TSArrayType":
    case "TSTupleType":
      return ["array"];
    case "TSTypeOperator":
      return node.operator === "readonly" && isNode(node.typeAnnotation)
        ? kindsOf(node.typeAnnotation, file)
        : null;
    case "TSTypeLiteral":
    case "TSInterfaceDeclaration":
      return ["object"];
    case "TSTypeAliasDeclaration":
      return isNode(node.typeAnnotation) ? kindsOf(node.typeAnnotation, file) : null;
    case "TSUnionType": {
      const kinds = listOf(node.types).map((type) => kindsOf(type, file));
      return kinds.some((kind) => kind === null) ? null : kinds.flatMap((kind) => kind ?? []);
    }
    case "TSTypeReference": {
      const name = isNode(node.typeName) ? (node.typeName.name ?? "") : "";
      if (name === "Date" || name === "Buffer") return [name];
      // What Kysely's types of a column read.
      const [read] = isNode(node.typeArguments) ? listOf(node.typeArguments.params) : [];
      if (read !== undefined)
        return name === "Generated" || name === "ColumnType" ? kindsOf(read, file) : null;
      const found = lookUp(name, file, "types");
      return found === null ? null : kindsOf(found.node, found.file);
    }
    default:
      return null;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function listOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** A node and all within it. */
function nodesOf(node: Node): Node[] {
  const found: Node[] = [];
  const visit = (each: unknown): void => {
    if (Array.isArray(each)) for (const child of each) visit(child);
    else if (isNode(each)) {
      found.push(each);
      for (const child of Object.values(each)) visit(child);
    }
  };
  visit(node);
  return found;
}
