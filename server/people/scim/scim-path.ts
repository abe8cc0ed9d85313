/** Path of SCIM, which is not part of the versioned API: it has tokens and errors of its own. */
export const scimPath = "/_/scim/v2";
