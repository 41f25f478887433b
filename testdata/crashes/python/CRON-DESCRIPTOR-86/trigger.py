from cron_descriptor import get_description

get_description('0 8-21/3,21 * * *')
