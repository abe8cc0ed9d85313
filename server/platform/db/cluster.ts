/**
 * SQL for the identity of a database: that of its cluster, which a primary and its replicas share, and its own in the cluster.
 * Where the role may not read the cluster's, two clusters look the same.
 */
export const databaseIdentity = `concat_ws('/',
  case when has_function_privilege('pg_control_system()', 'execute')
    then (select system_identifier from pg_control_system()) end,
  (select oid from pg_database where datname = current_database()))`;
