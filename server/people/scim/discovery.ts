import { groupSchema } from "./groups/present-group.ts";
import { maxCount } from "./query/list.ts";
import { userSchema } from "./users/present-user.ts";

const metaOf = (resourceType: string, location: string) => ({ meta: { resourceType, location } });

/** What this server can do. Source: RFC 7643, section 5. */
export function serviceProviderConfig(baseUrl: string): object {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxCount },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "SCIM token",
        description: "A token of the workspace, created under Settings → Provisioning",
        specUri: "https://www.rfc-editor.org/rfc/rfc6750",
        primary: true,
      },
    ],
    ...metaOf("ServiceProviderConfig", `${baseUrl}/ServiceProviderConfig`),
  };
}

/** The kinds of resources. Source: RFC 7643, section 6. */
export function resourceTypes(baseUrl: string): { id: string }[] {
  const type = (id: "User" | "Group", schema: string, description: string) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id,
    name: id,
    endpoint: `/${id}s`,
    description,
    schema,
    ...metaOf("ResourceType", `${baseUrl}/ResourceTypes/${id}`),
  });
  return [
    type("User", userSchema, "Users of the workspace"),
    type("Group", groupSchema, "Teams that SCIM has created"),
  ];
}

interface AttributeOptions {
  readonly type?: "string" | "boolean" | "complex" | "reference";
  readonly multiValued?: boolean;
  readonly required?: boolean;
  readonly caseExact?: boolean;
  readonly mutability?: "readWrite" | "readOnly" | "immutable";
  readonly uniqueness?: "none" | "server";
  readonly subAttributes?: readonly object[];
  readonly referenceTypes?: readonly string[];
}

function attribute(name: string, description: string, options: AttributeOptions = {}): object {
  const { subAttributes, referenceTypes, ...rest } = options;
  return {
    name,
    type: "string",
    multiValued: false,
    description,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    ...rest,
    ...(subAttributes === undefined ? {} : { subAttributes }),
    ...(referenceTypes === undefined ? {} : { referenceTypes }),
  };
}

const readOnly = { mutability: "readOnly" } as const;

const userAttributes = [
  attribute("userName", "Email with which the user signs in", { required: true, uniqueness: "server" }),
  attribute("name", "Parts of the name", {
    type: "complex",
    subAttributes: [
      attribute("formatted", "Given and family name; the name shown if there is no displayName"),
      attribute("givenName", "Given name"),
      attribute("familyName", "Family name"),
    ],
  }),
  attribute("displayName", "Name that Parley shows"),
  attribute("active", "Whether the user can sign in", { type: "boolean" }),
  attribute("emails", "The userName", {
    type: "complex",
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute("value", "Email", readOnly),
      attribute("type", "Always work", readOnly),
      attribute("primary", "Always true", { type: "boolean", ...readOnly }),
    ],
  }),
  attribute("groups", "Groups of the user", {
    type: "complex",
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute("value", "Id of the group", readOnly),
      attribute("$ref", "URL of the group", { type: "reference", referenceTypes: ["Group"], ...readOnly }),
      attribute("display", "Name of the group", readOnly),
      attribute("type", "Always direct", readOnly),
    ],
  }),
  attribute("roles", "Role in the workspace, which admins change in Parley", {
    type: "complex",
    multiValued: true,
    ...readOnly,
    subAttributes: [
      attribute("value", "admin, member or viewer", readOnly),
      attribute("primary", "Always true", { type: "boolean", ...readOnly }),
    ],
  }),
];

const groupAttributes = [
  attribute("displayName", "Name of the team", { required: true, uniqueness: "server" }),
  attribute("members", "Users of the team", {
    type: "complex",
    multiValued: true,
    subAttributes: [
      attribute("value", "Id of the user", { mutability: "immutable" }),
      attribute("$ref", "URL of the user", {
        type: "reference",
        referenceTypes: ["User"],
        mutability: "immutable",
      }),
      attribute("display", "Name of the user", readOnly),
      attribute("type", "Always User", { mutability: "immutable" }),
    ],
  }),
];

/** The attributes of each kind of resource. Source: RFC 7643, section 7. */
export function schemas(baseUrl: string): { id: string }[] {
  const schema = (id: string, name: string, description: string, attributes: readonly object[]) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    id,
    name,
    description,
    attributes,
    ...metaOf("Schema", `${baseUrl}/Schemas/${id}`),
  });
  return [
    schema(userSchema, "User", "A user of the workspace", userAttributes),
    schema(groupSchema, "Group", "A team that SCIM has created", groupAttributes),
  ];
}
