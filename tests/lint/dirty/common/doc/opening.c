int mrs_no_opening;
