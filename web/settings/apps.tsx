import { useInfiniteQuery } from "@tanstack/react-query";
import { grantsQuery, revokeGrant } from "../api/account.ts";
import { ConfirmButton } from "../common/confirm.tsx";
import { LoadMore } from "../common/endless.tsx";
import { ErrorState } from "../common/states.tsx";
import { whenInLine } from "../common/time.ts";
import { NoneYet, Row, Rows, RowsSkeleton, SettingsPage } from "./parts.tsx";

/** Apps that the person has let in. */
export function AppsPage() {
  return (
    <SettingsPage
      title="Connected apps"
      lead="Apps that you let in: they see what you see, in your name, until you take it back."
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
  if (grants.length === 0) return <NoneYet>You have let in no app.</NoneYet>;
  return (
    <div>
      <Rows label="Connected apps">
        {grants.map((grant) => (
          <Row
            key={grant.id}
            title={grant.client_name}
            facts={[
              `let in ${whenInLine(grant.created_datetime)}`,
              `last used ${whenInLine(grant.last_used_datetime)}`,
              grant.sign_ins === 1 ? "signed in once" : `signed in ${grant.sign_ins} times`,
            ]}
            actions={
              <ConfirmButton
                text="Revoke"
                button={{ "aria-label": `Revoke ${grant.client_name}` }}
                title={`Take back what ${grant.client_name} may do?`}
                label="Revoke access"
                run={() => revokeGrant(grant.id)}
                done={`${grant.client_name} has no access any more.`}
                refresh={[grantsQuery.queryKey]}
              >
                All its tokens for you end at once. It can ask you again to be let in.
              </ConfirmButton>
            }
          />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}
