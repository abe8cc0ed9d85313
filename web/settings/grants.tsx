import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { describeTarget } from "../../contract/redirect-target.ts";
import { usersQuery } from "../api/recordings.ts";
import { type Grant, grantsQuery, revokeGrant } from "../api/settings/account.ts";
import { ConfirmButton } from "../common/dialogs/confirm.tsx";
import { whenInLine } from "../common/format/time.ts";
import { LoadMore } from "../common/lists/load-more.tsx";
import { ErrorState } from "../common/states.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, Tag } from "./parts.tsx";

/** Apps that have access to the user's account, or to any account of the workspace. */
export function Grants({ of }: { of: "me" | "workspace" }) {
  const query = useInfiniteQuery(grantsQuery(of));
  const users = useQuery({ ...usersQuery, enabled: of === "workspace" });
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const grants = query.data.pages.flatMap(({ grants }) => grants);
  if (grants.length === 0) return <NoneYet>No connected apps.</NoneYet>;
  const nameOf = (userId: string): string =>
    users.data?.users.find(({ id }) => id === userId)?.name ?? "a user";
  return (
    <div>
      <Rows label="Connected apps">
        {grants.map((grant) => (
          <GrantRow key={grant.id} grant={grant} owner={of === "me" ? null : nameOf(grant.user_id)} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

/** @param props.owner null: the user. */
function GrantRow({ grant, owner }: { grant: Grant; owner: string | null }) {
  const by = owner === null ? "your account" : `${owner}'s account`;
  return (
    <Row
      title={grant.client_name}
      badges={grant.self_registered ? <Tag tone="warn">Registered itself</Tag> : null}
      facts={[
        ...(grant.self_registered ? identityOf(grant) : []),
        `authorized ${owner === null ? "" : `by ${owner} `}${whenInLine(grant.created_datetime)}`,
        `last used ${whenInLine(grant.last_used_datetime)}`,
        grant.sign_ins === 1 ? "signed in once" : `signed in ${grant.sign_ins} times`,
      ]}
      actions={
        <ConfirmButton
          text="Revoke"
          button={{ "aria-label": `Revoke ${grant.client_name}${owner === null ? "" : ` for ${owner}`}` }}
          title={`Revoke access of ${grant.client_name}?`}
          label="Revoke access"
          run={() => revokeGrant(grant.id)}
          done={`${grant.client_name} no longer has access.`}
          refresh={[["grants"]]}
        >
          Its tokens for {by} stop working immediately. It can request access again.
        </ConfirmButton>
      }
    />
  );
}

/** What is known of an app whose name nobody has checked, as the consent page shows it. */
function identityOf({ client_metadata_url, redirect_uris }: Grant): (string | null)[] {
  const targets = [...new Set(redirect_uris.map(describeTarget))];
  return [
    client_metadata_url === null ? null : `described by ${new URL(client_metadata_url).host}`,
    `sends access to ${targets.join(", ")}`,
  ];
}
