-- Sessions of single sign-on from before 0081 name no issuer, so that neither unlinking nor removing their provider would end
-- them. A user's only identity, linked before the session began, has begun it; the other ones sign in again.
update sessions s set sign_in_issuer = i.issuer, sign_in_subject = i.subject
from identities i
where s.method = 'single_sign_on' and s.sign_in_issuer is null
  and i.user_id = s.user_id and i.created_at <= s.created_at
  and not exists (select from identities o where o.user_id = s.user_id and (o.issuer, o.subject) <> (i.issuer, i.subject));
delete from sessions where method = 'single_sign_on' and sign_in_issuer is null;

-- In teams that SCIM manages, groups of a claim decide about no member.
delete from mapped_team_members m using teams t where t.id = m.team_id and t.is_provisioned;
