import { useInfiniteQuery } from "@tanstack/react-query";
import { grantsQuery, revokeGrant } from "../../api/settings/account.ts";
import { ConfirmButton } from "../../common/dialogs/confirm.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { ErrorState } from "../../common/states.tsx";
import { NoneYet, Row, Rows, RowsSkeleton, SettingsPage } from "../parts.tsx";

/** Apps with access to the user's account. */
export function AppsPage() {
  return (
    <SettingsPage
      title="Connected apps"
      lead="Apps with access to your account. They can do what you can do until you revoke access."
    >
      <Grants />
    </SettingsPage>
  );
}

function Grants() {
  const query = useInfiniteQuery(grantsQuery);
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const grants = query.data.pages.flatMap(({ grants }) => grants);
  if (grants.length === 0) return <NoneYet>No connected apps.</NoneYet>;
  return (
    <div>
      <Rows label="Connected apps">
        {grants.map((grant) => (
          <Row
            key={grant.id}
            title={grant.client_name}
            facts={[
              `authorized ${whenInLine(grant.created_datetime)}`,
              `last used ${whenInLine(grant.last_used_datetime)}`,
              grant.sign_ins === 1 ? "signed in once" : `signed in ${grant.sign_ins} times`,
            ]}
            actions={
              <ConfirmButton
                text="Revoke"
                button={{ "aria-label": `Revoke ${grant.client_name}` }}
                title={`Revoke access of ${grant.client_name}?`}
                label="Revoke access"
                run={() => revokeGrant(grant.id)}
                done={`${grant.client_name} no longer has access.`}
                refresh={[grantsQuery.queryKey]}
              >
                Its tokens for your account stop working immediately. It can request access again.
              </ConfirmButton>
            }
          />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}
